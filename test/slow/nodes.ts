// The same tests, with enough rounds to find failures that happen once in thousands.
process.env.ROUNDS = '5000';
await import('../process/nodes.test.ts');
