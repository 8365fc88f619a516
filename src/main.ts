import { say } from './commands/terminal/output.ts';
import { EXIT_FAILURE, run } from './program.ts';
import { hasPassword } from './store/open.ts';

// The reader has had enough, as in "export | head".
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  say(`store-orders: cannot write to standard output: ${error.message}`);
  process.exit(EXIT_FAILURE);
});

// A command does its work whether or not its messages are read.
process.stderr.on('error', () => {});

// Replaces the arguments in the list of processes.
if (process.argv.some((arg) => hasPassword(arg.replace(/^--[\w-]+=/, '')))) {
  process.title = `store-orders ${process.argv[2]}`;
}

// An event loop that runs dry before the command has ended is no success.
process.exitCode = EXIT_FAILURE;
process.exitCode = await run(process.argv.slice(2), process);
