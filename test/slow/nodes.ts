// The same tests, with enough rounds to find failures that happen once in thousands.
process.env.ROUNDS = '10000';
await import('../process/nodes.test.ts');
