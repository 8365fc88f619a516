import { html } from 'lit-html';

/** Lines on a grid of 16 by 16. */
const PATHS = {
  search: 'M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9Zm3.3-1.2 3.2 3.2',
  clock: 'M8 14A6 6 0 1 1 8 2a6 6 0 0 1 0 12Zm0-9.5V8l2.4 1.5',
  truck:
    'M1.5 4h7.5v7H1.5Zm7.5 2.5h2.7l2.8 2.5v2h-5.5M4.5 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm7 0a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z',
  cross: 'm4.5 4.5 7 7m0-7-7 7',
  crossed: 'M8 14A6 6 0 1 1 8 2a6 6 0 0 1 0 12ZM6 6l4 4m0-4-4 4',
  plus: 'M8 3.5v9M3.5 8h9',
  more: 'M3.5 8.4a.4.4 0 1 1 0-.8.4.4 0 0 1 0 .8Zm4.5 0a.4.4 0 1 1 0-.8.4.4 0 0 1 0 .8Zm4.5 0a.4.4 0 1 1 0-.8.4.4 0 0 1 0 .8Z',
  book: 'M8 3.8C6.6 2.9 4.6 2.7 2 2.7v9.8c2.6 0 4.6.2 6 1.1 1.4-.9 3.4-1.1 6-1.1V2.7c-2.6 0-4.6.2-6 1.1Zm0 0v9.8',
  list: 'M5.5 4h8m-8 4h8m-8 4h8M2.5 4h.01M2.5 8h.01M2.5 12h.01',
  print: 'M4.5 6V2.5h7V6M4.5 11H2.5V6h11v5h-2M4.5 9.5h7v4h-7Z',
  copy: 'M6 6h7.5v7.5H6Zm4-3.5H3.5a1 1 0 0 0-1 1V10',
  link: 'M6.5 9.5 9.5 6.5M7 4.8l1.7-1.7a3 3 0 0 1 4.2 4.2L11.2 9M4.8 7 3.1 8.7a3 3 0 0 0 4.2 4.2L9 11.2',
  up: 'm3.5 10 4.5-4.5 4.5 4.5',
  down: 'm3.5 6 4.5 4.5 4.5-4.5',
  columns: 'M2 3h12v10H2ZM6 3v10m4-10v10',
  download: 'M8 2.5v7.5M4.8 7 8 10.2 11.2 7M2.5 13.5h11',
  key: 'M5.2 13.5a2.8 2.8 0 1 0 0-5.5 2.8 2.8 0 0 0 0 5.5ZM7.2 8.8l6-6m-2 2 1.8 1.8M9 7l1.4 1.4',
  eye: 'M1.5 8C3 5 5.3 3.5 8 3.5S13 5 14.5 8C13 11 10.7 12.5 8 12.5S3 11 1.5 8ZM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  warning: 'M8 2.2 14.2 13H1.8ZM8 6.5v3m0 1.7v.1',
  lock: 'M3.5 7h9v6.5h-9ZM5.3 7V5.2a2.7 2.7 0 0 1 5.4 0V7',
  again: 'M13.3 8a5.3 5.3 0 1 1-1.6-3.7M13.3 2v2.8h-2.8',
  done: 'M8 14A6 6 0 1 1 8 2a6 6 0 0 1 0 12ZM5.3 8.3l1.9 1.9 3.5-3.9',
  live: 'M8 12a4 4 0 1 1 0-8 4 4 0 0 1 0 8Z',
  wait: 'M8 13A5 5 0 1 1 8 3a5 5 0 0 1 0 10Z',
  off: 'M8 13.5a5.5 5.5 0 1 1 0-11 5.5 5.5 0 0 1 0 11ZM4 12l8-8',
  menu: 'M2.5 4h11m-11 4h11m-11 4h11',
  filter: 'M2 4h12M4.5 8h7M6.5 12h3',
  right: 'm6 3.5 4.5 4.5-4.5 4.5',
  left: 'm10 3.5-4.5 4.5 4.5 4.5',
  check: 'm3 8.5 3.2 3.2L13 5',
  scan: 'M2 5V2.5h2.5M11.5 2.5H14V5M14 11v2.5h-2.5M4.5 13.5H2V11M5 5.5v5m2-5v5m2-5v5m2-5v5',
  sound: 'M2 6.2v3.6h2.3L8 12.6V3.4L4.3 6.2ZM10.3 6a2.8 2.8 0 0 1 0 4M12.2 4.2a5.3 5.3 0 0 1 0 7.6',
  box: 'm8 1.8 5.7 3v6.4L8 14.2l-5.7-3V4.8Zm-5.5 3L8 7.8l5.5-3M8 7.8v6.2',
} as const;

export type IconName = keyof typeof PATHS;

/** An icon; a text beside it explains it. */
export const icon = (name: IconName) =>
  html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${PATHS[name]}></path></svg>`;

/** The mark of the product. */
export const mark = () =>
  html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><rect width="24" height="24" rx="6"></rect><path d="m12 5.5 6 3.2v6.6l-6 3.2-6-3.2V8.7Zm-5.7 3.4L12 12l5.7-3.1M12 12v6.3"></path></svg>`;

const EVENTS: Readonly<Record<string, readonly [IconName, string]>> = {
  placed: ['plus', 'Placed'],
  shipped: ['truck', 'Shipped'],
  cancelled: ['crossed', 'Cancelled'],
};

/** The icon and the word for what happened to an order; one of a later release is shown as it is. */
export const eventWords = (type: string): readonly [IconName, string] =>
  EVENTS[type] ?? ['done', type];
