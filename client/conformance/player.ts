// Makes one call of the suite with the installed client library: reads it from stdin, writes the result to stdout.
import { text } from 'node:stream/consumers';
import * as library from '@store-orders/client';
import { performer } from './perform.ts';

const { STORE_ORDERS_URL: url, STORE_ORDERS_KEY: key } = process.env as Record<string, string>;
const perform = performer(library as never);
const result = await perform(JSON.parse(await text(process.stdin)), { url: url!, key: key! });
console.log(JSON.stringify(result));
