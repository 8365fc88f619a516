// Requests lists as fast as responses arrive while it cancels orders at a steady rate, and checks that each
// list is fresh. Takes a Task as JSON and prints a Report. Lists and cancels run in separate threads, so that
// neither delays the other in the client.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface Task {
  readonly port: number;
  readonly key: string;
  readonly listConnections: number;
  readonly cancelsPerSecond: number;
  /** Orders from this id on are pending, and are the first in the list. */
  readonly firstId: number;
  readonly seconds: number;
  /** Ends early after this number of cancels. */
  readonly maxCancels: number;
}

export interface Report {
  readonly lists: number;
  readonly listsPerSecond: number;
  /** Lists with an order whose cancel was acknowledged before the list was requested. */
  readonly stale: number;
  readonly cancelsPerSecond: number;
  /** Milliseconds from the time a cancel was due to its 204. */
  readonly cancelP99: number;
  /** All orders before this id are cancelled. */
  readonly nextId: number;
}

type CancelReport = Pick<Report, 'cancelsPerSecond' | 'cancelP99' | 'nextId'>;

const CANCEL_CONNECTIONS = 32;
const TICK_MS = 1;
/** Latencies of cancels that are due earlier are dropped: this program is still compiling and connecting. */
const WARM_UP_MS = 500;
/** Enough for the head of a response and the first id of a list. */
const HEAD_BYTES = 4_096;
const LIST_HEAD = /^HTTP\/1\.1 200[\s\S]*?content-length: (\d+)[\s\S]*?\r\n\r\n\[\{"id":(\d+)\D/i;

const task: Task = JSON.parse(process.argv[2]!);

/** Opens a connection that calls `onBytes` with received bytes; the buffer is reused. */
function open(onBytes: (bytes: Buffer) => void): Socket {
  const buffer = Buffer.alloc(1024 * 1024);
  const callback = (count: number) => {
    onBytes(buffer.subarray(0, count));
    return true;
  };
  return connect({ port: task.port, host: '127.0.0.1', onread: { buffer, callback } });
}

function request(method: string, path: string): string {
  return `${method} /v1/store/orders${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${task.key}\r\n\r\n`;
}

/** Requests lists one after another on one connection; `onList` gets whether each was fresh. */
function listRepeatedly(firstPending: Int32Array, onList: (isFresh: boolean) => void): void {
  let expected = 0;
  let head = '';
  /** Bytes of the response still to come; undefined until its head has arrived. */
  let missing: number | undefined;
  let isFresh = false;
  const ask = () => {
    expected = Atomics.load(firstPending, 0);
    head = '';
    missing = undefined;
    socket.write(request('GET', ''));
  };
  const socket = open((bytes) => {
    if (missing === undefined) {
      const before = head.length;
      head += bytes.toString('latin1', 0, HEAD_BYTES);
      const match = LIST_HEAD.exec(head);
      if (match === null) return;
      isFresh = Number(match[2]) >= expected;
      missing = head.indexOf('\r\n\r\n') + 4 + Number(match[1]) - before;
    }
    missing -= bytes.length;
    if (missing > 0) return;
    onList(isFresh);
    ask();
  });
  ask();
}

/** Cancels orders in sequence, each when it is due and a connection is free. */
async function cancelSteadily(firstPending: Int32Array) {
  const latencies: number[] = [];
  const free: ((id: number, due: number) => void)[] = [];
  const acknowledged = new Set<number>();
  const begin = performance.now();
  let next = 0;
  let count = 0;
  let isOver = false;
  const startDue = () => {
    const due = ((performance.now() - begin) / 1000) * task.cancelsPerSecond;
    const limit = Math.min(due, task.maxCancels);
    while (!isOver && next < limit && free.length > 0) {
      free.pop()!(task.firstId + next, begin + (next / task.cancelsPerSecond) * 1000);
      next += 1;
    }
  };
  for (let index = 0; index < CANCEL_CONNECTIONS; index += 1) {
    let current = 0;
    let dueAt = 0;
    const cancel = (id: number, due: number) => {
      current = id;
      dueAt = due;
      socket.write(request('DELETE', `/${id}`));
    };
    const socket = open((bytes) => {
      const status = bytes.toString('latin1', 0, 12);
      if (status !== 'HTTP/1.1 204') throw new Error(`the cancel of ${current}: ${status}`);
      count += 1;
      if (dueAt - begin > WARM_UP_MS) latencies.push(performance.now() - dueAt);
      acknowledged.add(current);
      while (acknowledged.delete(firstPending[0]!)) Atomics.add(firstPending, 0, 1);
      free.push(cancel);
      startDue();
    });
    free.push(cancel);
  }
  const timer = setInterval(startDue, TICK_MS);
  const end = begin + task.seconds * 1000;
  while (performance.now() < end && count < task.maxCancels) await sleep(1);
  clearInterval(timer);
  isOver = true;
  while (free.length < CANCEL_CONNECTIONS) await sleep(1);
  return { latencies, count, seconds: (performance.now() - begin) / 1000 };
}

async function list(): Promise<void> {
  /** The cancels of all orders below this id have been acknowledged. */
  const firstPending = new Int32Array(new SharedArrayBuffer(4));
  firstPending[0] = task.firstId;
  const canceller = new Worker(new URL(import.meta.url), {
    argv: process.argv.slice(2),
    workerData: firstPending,
  });
  // Only of this thread, on Linux: reading lists takes a whole core, on which the other thread would wait for its turn.
  setPriority(constants.priority.PRIORITY_LOW);
  let lists = 0;
  let stale = 0;
  for (let index = 0; index < task.listConnections; index += 1) {
    listRepeatedly(firstPending, (isFresh) => {
      lists += 1;
      if (!isFresh) stale += 1;
    });
  }
  const begin = performance.now();
  const [cancelled] = (await once(canceller, 'message')) as [CancelReport];
  const listsPerSecond = lists / ((performance.now() - begin) / 1000);
  const report: Report = { lists, listsPerSecond, stale, ...cancelled };
  process.stdout.write(JSON.stringify(report), () => process.exit());
}

async function cancel(): Promise<CancelReport> {
  if (task.cancelsPerSecond === 0) {
    await sleep(task.seconds * 1000);
    return { cancelsPerSecond: 0, cancelP99: 0, nextId: task.firstId };
  }
  const { latencies, count, seconds } = await cancelSteadily(workerData);
  latencies.sort((a, b) => a - b);
  return {
    cancelsPerSecond: count / seconds,
    cancelP99: latencies[Math.floor(latencies.length * 0.99)]!,
    nextId: task.firstId + count,
  };
}

if (isMainThread) await list();
else parentPort!.postMessage(await cancel());
