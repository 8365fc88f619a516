import type { Random } from '../torture/random.ts';
import { type Requests, requests, type Target } from './requests.ts';
import type { Step } from './step.ts';

export interface Script {
  readonly index: number;
  readonly steps: readonly Step[];
  /** How the bytes are sent: all at once, in a few pieces, or in many small ones. */
  readonly delivery: 'whole' | 'pieces' | 'dribble';
  /**
   * What the client does next. read: reads all responses. halfClose: closes its side first. reset: resets the
   * connection. stall: stops reading for a while, then reads all. flood: sends junk before it reads.
   */
  readonly ending: 'read' | 'halfClose' | 'reset' | 'stall' | 'flood';
  /** Milliseconds before a reset, or of a stall. */
  readonly delayMs: number;
  /** Bytes that the client reads before it stalls. */
  readonly stallAt: number;
}

const MAX_STEPS = 6;
/** Longer than a request may wait for the store. */
const LONG_STALL_MS = 2_300;

/** The script of one connection; the same for the same seed and order of calls. */
export function scriptOf(index: number, random: Random, target: Target): Script {
  const ending = random.pick(ENDINGS);
  const steps = stepsOf(random, target, ending);
  const isLong = ending === 'stall' && random.chance(0.3);
  return {
    index,
    steps,
    delivery: random.pick(['whole', 'whole', 'pieces', 'dribble'] as const),
    ending,
    delayMs: isLong ? LONG_STALL_MS : random.pick([0, 0, 1, 5, 20, 60]),
    stallAt: random.chance(0.5) ? 0 : random.below(2_000_000),
  };
}

const ENDINGS = [
  ...Array<Script['ending']>(12).fill('read'),
  ...Array<Script['ending']>(8).fill('reset'),
  ...Array<Script['ending']>(4).fill('halfClose'),
  ...(['stall', 'flood'] as const),
];

function stepsOf(random: Random, target: Target, ending: Script['ending']): Step[] {
  const request = requests(random, target);
  // These two need a response that does not fit into the buffers of the system.
  const steps = ending === 'stall' || ending === 'flood' ? [request.list()] : [];
  if (ending === 'flood') return [...steps, after(steps, request.junk())];
  const count = 1 + random.below(MAX_STEPS);
  while (steps.length < count) steps.push(random.pick(VALID)(request));
  if (random.chance(0.5)) return steps;
  if (random.chance(0.5)) steps.pop();
  const last = after(steps, random.pick(LAST)(request));
  steps.push(last);
  if (!isIncomplete(last) && random.chance(0.5)) {
    steps.push({ name: 'cancel after the end', bytes: request.cancel().bytes, statuses: [] });
  }
  return steps;
}

/** Unreadable bytes get no response of their own while an earlier request still waits for one. */
function after(steps: readonly Step[], last: Step): Step {
  return steps.length > 0 && last.isUnreadable ? { ...last, isOptional: true } : last;
}

/** Whether later bytes would be read as the rest of this step. */
function isIncomplete({ name }: Step): boolean {
  return name.startsWith('incomplete') || name.startsWith('large');
}

const VALID: readonly ((request: Requests) => Step)[] = [
  ...Array<(request: Requests) => Step>(10).fill((request) => request.cancel()),
  ...Array<(request: Requests) => Step>(5).fill((request) => request.cancelWithBody()),
  ...Array<(request: Requests) => Step>(8).fill((request) => request.unchanged()),
  ...Array<(request: Requests) => Step>(3).fill((request) => request.gzip()),
  ...Array<(request: Requests) => Step>(3).fill((request) => request.cancelV2()),
  ...Array<(request: Requests) => Step>(4).fill((request) => request.place()),
  ...Array<(request: Requests) => Step>(2).fill((request) => request.page()),
  ...Array<(request: Requests) => Step>(3).fill((request) => request.cancelSeveral()),
  ...Array<(request: Requests) => Step>(3).fill((request) => request.severalInvalid()),
  (request) => request.cancelAllOrNone(),
  (request) => request.compressed(),
  (request) => request.webhookInvalid(),
  (request) => request.webhooks(),
  (request) => request.webhookUnknown(),
  (request) => request.file(),
  (request) => request.fileUnknown(),
  (request) => request.streamInvalid(),
  (request) => request.placeInvalid(),
  (request) => request.placeOtherType(),
  (request) => request.pageInvalid(),
  (request) => request.list(),
  (request) => request.head(),
  (request) => request.noKey(),
  (request) => request.notFound(),
  (request) => request.wrongMethod(),
];

const LAST: readonly ((request: Requests) => Step)[] = [
  ...Array<(request: Requests) => Step>(4).fill((request) => request.stream()),
  (request) => request.streamHead(),
  (request) => request.upgrade(),
  (request) => request.closing(),
  (request) => request.closingList(),
  (request) => request.http10(),
  (request) => request.connect(),
  (request) => request.connect(),
  (request) => request.connectWithBody(),
  (request) => request.otherVersion(),
  (request) => request.twoLengths(),
  (request) => request.twoHosts(),
  (request) => request.brokenChunk(),
  (request) => request.upgradeWithBody(),
  (request) => request.expectation(),
  (request) => request.largeBody(),
  (request) => request.largeHeader(),
  (request) => request.longUrl(),
  (request) => request.junk(),
  (request) => request.incompleteHead(),
  (request) => request.incompleteBody(),
  (request) => request.placeTooLarge(),
  (request) => request.placeBrokenChunk(),
  (request) => request.incompletePlacement(),
];
