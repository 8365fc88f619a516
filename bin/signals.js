// Imported before everything else: signals can come while the program is loaded.

// Otherwise SIGUSR1 starts the debugger of Node.js, to which every process on this machine can connect.
process.on('SIGUSR1', () => {});
if (process.argv[2] === 'serve') {
  // SIGUSR2 switches the log level of a running service and SIGHUP makes it reread its settings: neither must end it during
  // startup. A service in a terminal ends with the terminal.
  process.on('SIGUSR2', () => {});
  if (!process.stdout.isTTY) process.on('SIGHUP', () => {});
}
