// The health check of the image: exits with 0 if the admin listener responds 200, and prints the reason otherwise.
//   node health.mjs [/livez | /readyz]
import { Agent, get } from 'node:http';

/** Less than the timeout of HEALTHCHECK, so that the reason is printed. */
const LIMIT_MS = 2_500;

const { OPERATIONS_HOST, OPERATIONS_PORT } = process.env;
const path = process.argv[2] ?? '/livez';

const fail = (reason) => {
  console.error(`${path}: ${reason}`);
  process.exit(1);
};

const options = {
  // Of its own: Node's can have a proxy (NODE_USE_ENV_PROXY), which would answer for the service.
  agent: new Agent(),
  host: OPERATIONS_HOST || '127.0.0.1',
  port: OPERATIONS_PORT || 8081,
  path,
  signal: AbortSignal.timeout(LIMIT_MS),
};
get(options, async (response) => {
  if (response.statusCode === 200) process.exit(0);
  response.setEncoding('utf8');
  fail(`${response.statusCode} ${(await response.toArray()).join('').slice(0, 1_000)}`);
}).on('error', (error) => fail(error.name === 'AbortError' ? 'no response' : error.message));
