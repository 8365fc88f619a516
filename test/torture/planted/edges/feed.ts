import type { SmallFault } from '../small-fault.ts';

const ADDRESSES = 'src/feed/deliveries/addresses.ts';
const POST = 'src/feed/deliveries/post.ts';
const REPETITIONS = 'src/feed/deliveries/repetitions.ts';

/** At the edges of webhooks and streams. */
export const feed: readonly SmallFault[] = [
  {
    name: 'paused-after-three-days-alone',
    breaks: 'After three days and 50 failures, a webhook is paused.',
    file: REPETITIONS,
    text: 'failingForMs >= GIVE_UP_AFTER_MS && failures >= GIVE_UP_AFTER_FAILURES',
    fault: 'failingForMs >= GIVE_UP_AFTER_MS',
    tests: ['feed/repetitions'],
  },
  {
    name: 'endpoint-has-a-minute',
    breaks: 'An endpoint must answer within 15 seconds.',
    file: POST,
    text: 'const ANSWER_WITHIN_MS = 15_000;',
    fault: 'const ANSWER_WITHIN_MS = 60_000;',
    tests: ['feed/post'],
  },
  {
    name: 'cloud-metadata-allowed',
    breaks: 'Webhooks are sent only to public addresses.',
    file: ADDRESSES,
    text: '!isAddress(text) || text === PLATFORM',
    fault: '!isAddress(text)',
    tests: ['feed/addresses'],
  },
];
