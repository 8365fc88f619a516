// A process that sends requests with wrong keys, at a rate, until it is ended: PORT, CONNECTIONS, REQUESTS PER SECOND.

import { connect } from 'node:net';
import { newSecret } from '../../../src/domain/api-key.ts';

const [port, connections, rate] = process.argv.slice(2).map(Number);
const BEATS_PER_SECOND = 100;

const sockets = Array.from({ length: connections! }, () => connect(port!, '127.0.0.1'));
for (const socket of sockets) {
  socket.on('error', () => {});
  socket.resume();
}
let next = 0;
setInterval(() => {
  for (let count = 0; count < rate! / BEATS_PER_SECOND; count += 1) {
    const socket = sockets[next++ % sockets.length]!;
    const key = newSecret('production');
    socket.write(
      `GET /v2/store/orders/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
  }
}, 1_000 / BEATS_PER_SECOND);
process.send!('begun');
