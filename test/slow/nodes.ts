// The same with as many rounds as find what happens once in thousands.
process.env.ROUNDS = '10000';
await import('../process/nodes.test.ts');
