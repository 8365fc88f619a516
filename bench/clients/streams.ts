// Opens many streams of changes, places orders at a steady rate, and measures how long a change takes to reach every
// stream. Takes a Task as JSON and prints a Report.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Task {
  readonly port: number;
  readonly keys: readonly string[];
  readonly streams: number;
  readonly changesPerSecond: number;
  readonly seconds: number;
}

export interface Report {
  /** Milliseconds from the acknowledgement of a placement to its event. */
  readonly delayP50: number;
  readonly delayP99: number;
  readonly changesPerSecond: number;
  /** Events that the streams received. */
  readonly events: number;
}

const PLACERS = 32;
const task: Task = JSON.parse(process.argv[2]!);
const placedAt = new Map<number, number>();
const delays: number[] = [];
let events = 0;

function openStream(key: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(task.port, '127.0.0.1');
    let rest = '';
    socket.setEncoding('latin1');
    socket.write(
      `GET /v2/store/changes/stream?after=now HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
    socket.on('data', (chunk: string) => {
      if (chunk.startsWith('HTTP/1.1 200')) resolve();
      const text = rest + chunk;
      const now = performance.now();
      let end = 0;
      for (const match of text.matchAll(/"order":\{"id":(\d+),/g)) {
        end = match.index + match[0].length;
        events += 1;
        const placed = placedAt.get(Number(match[1]));
        if (placed !== undefined) delays.push(now - placed);
      }
      rest = text.slice(Math.max(end, text.length - 64));
    });
  });
}

async function place(lane: number, until: number): Promise<number> {
  const socket = connect(task.port, '127.0.0.1');
  socket.setEncoding('latin1');
  const body = '{"petId":1,"quantity":1}';
  let count = 0;
  const begin = performance.now();
  const interval = (1000 * PLACERS) / task.changesPerSecond;
  while (performance.now() < until) {
    const due = begin + count * interval - performance.now();
    if (due > 0) await sleep(due);
    socket.write(
      `POST /v2/store/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${task.keys[0]}\r\nIdempotency-Key: ${until}-${lane}-${count}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const response: string = await new Promise((resolve) => socket.once('data', resolve));
    const id = /\{"id":(\d+),/.exec(response)?.[1];
    if (id === undefined) throw new Error(`a placement got ${response.slice(0, 200)}`);
    placedAt.set(Number(id), performance.now());
    count += 1;
  }
  socket.destroy();
  return count;
}

await Promise.all(
  Array.from({ length: task.streams }, (_, index) =>
    openStream(task.keys[index % task.keys.length]!),
  ),
);
const begin = performance.now();
const until = begin + task.seconds * 1000;
const counts = await Promise.all(Array.from({ length: PLACERS }, (_, lane) => place(lane, until)));
const seconds = (performance.now() - begin) / 1000;
await sleep(1_500);
delays.sort((a, b) => a - b);
const report: Report = {
  delayP50: delays[Math.floor(delays.length * 0.5)] ?? Number.NaN,
  delayP99: delays[Math.floor(delays.length * 0.99)] ?? Number.NaN,
  changesPerSecond: counts.reduce((sum, count) => sum + count, 0) / seconds,
  events,
};
process.stdout.write(JSON.stringify(report), () => process.exit());
