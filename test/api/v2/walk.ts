import assert from 'node:assert/strict';
import type { Service } from '../../http/harness.ts';

export const ORDERS = '/v2/store/orders';

interface Page {
  readonly orders: readonly { readonly id: number; readonly status: string }[];
  readonly next?: string;
  readonly store: string;
  readonly revision: number;
  readonly changes: string;
}

/** A page of orders; that it has a Link header exactly if another one follows is checked. */
export async function page({ call }: Service, query: string): Promise<Page> {
  const answer = await call('GET', `${ORDERS}?${query}`);
  assert.equal(answer.status, 200, answer.body);
  const { next } = JSON.parse(answer.body);
  assert.equal(answer.headers.link === undefined, next === undefined);
  return JSON.parse(answer.body);
}

/** The ids of a whole walk, page by page. */
export async function walk(service: Service, query: string): Promise<number[][]> {
  const pages: number[][] = [];
  for (let cursor = ''; ; ) {
    const { orders, next } = await page(service, query + cursor);
    pages.push(orders.map(({ id }) => id));
    if (next === undefined) return pages;
    cursor = `&cursor=${next}`;
  }
}
