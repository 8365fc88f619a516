import { run } from './cli/program.ts';
import { hasPassword } from './store/database.ts';

// Each write to stdout has its own error; "serve" has its own listener.
process.stdout.on('error', () => {});

// Node.js warns that SQLite is experimental; the program uses it.
const warn = process.listeners('warning');
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.name !== 'ExperimentalWarning') for (const listener of warn) listener(warning);
});

// Commands continue even if stderr cannot be written.
process.stderr.on('error', () => {});

// Node.js reads it at each connection: certificates of databases and webhooks would not be verified.
if (process.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  process.stderr.write('store-orders: NODE_TLS_REJECT_UNAUTHORIZED has no effect\n');
}

// Hides passwords in arguments from the process list.
if (process.argv.some((arg) => hasPassword(arg.replace(/^--[\w-]+=/, '')))) {
  process.title = `store-orders ${process.argv[2]}`;
}

// Process 1 of a container is not ended by signals without a listener. "serve" has its own listeners.
if (process.pid === 1 && process.argv[2] !== 'serve') {
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
}

// Failure, if the event loop empties before the command has completed.
process.exitCode = 1;
process.exitCode = await run(process.argv.slice(2), process);
