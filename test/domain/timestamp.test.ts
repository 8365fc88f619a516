import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatTimestamp, parseBound, parseTimestamp } from '../../src/domain/timestamp.ts';
import { shipDate } from './arbitraries.ts';

const VALID: readonly (readonly [string, string])[] = [
  ['2026-11-20T05:18:56Z', '2026-11-20T05:18:56.000Z'],
  ['2026-11-20t05:18:56z', '2026-11-20T05:18:56.000Z'],
  ['2026-11-20T05:18:56+00:00', '2026-11-20T05:18:56.000Z'],
  ['2026-11-20T05:18:56-00:00', '2026-11-20T05:18:56.000Z'],
  ['2026-11-20T00:30:00+05:30', '2026-11-19T19:00:00.000Z'],
  ['2026-11-19T23:30:00-08:00', '2026-11-20T07:30:00.000Z'],
  ['2026-11-20T05:18:56.1Z', '2026-11-20T05:18:56.100Z'],
  ['2026-11-20T05:18:56.9999999Z', '2026-11-20T05:18:56.999Z'],
  ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
  ['2017-01-01T00:59:60.5+01:00', '2017-01-01T00:00:00.500Z'],
];
for (const [text, utc] of VALID) {
  test(`${text} is parsed as ${utc}`, () =>
    assert.equal(formatTimestamp(parseTimestamp(text)!), utc));
}

const INVALID = [
  '',
  '2026-11-20',
  '2026-11-20T05:18:56',
  '2026-11-20 05:18:56Z',
  '2026-11-20T05:18Z',
  '2026-11-20T05:18:56.Z',
  '2026-11-20T05:18:56+0100',
  '2026-02-29T12:00:00Z',
  '2026-04-31T12:00:00Z',
  '2026-13-01T12:00:00Z',
  '2026-00-10T12:00:00Z',
  '2026-11-20T24:00:00Z',
  '2026-11-20T12:60:00Z',
  '2026-11-20T12:00:60Z',
  '2026-11-20T12:00:61Z',
  '2026-11-20T12:00:00+24:00',
  '9999-12-31T23:59:59-01:00',
  '0000-01-01T00:00:00+01:00',
  '٢٠٢٦-11-20T05:18:56Z',
];
for (const text of INVALID) {
  test(`"${text}" is not an RFC 3339 date-time`, () =>
    assert.equal(parseTimestamp(text), undefined));
}

test('a formatted timestamp is parsed as the same time', () => {
  fc.assert(
    fc.property(shipDate, (time) => {
      assert.equal(parseTimestamp(formatTimestamp(time)), time);
    }),
  );
});

test('a time is formatted as Date does, before 1970 too, whatever days were formatted before it', () => {
  fc.assert(
    fc.property(shipDate, (time) => {
      assert.equal(formatTimestamp(time), new Date(time).toISOString());
    }),
    { numRuns: 3_000 },
  );
});

test('a bound with more digits than a recorded time is rounded up, so that "from" and "before" are exact', () => {
  const digits = fc.stringMatching(/^[0-9]{1,9}$/);
  fc.assert(
    fc.property(shipDate, fc.option(digits, { nil: undefined }), (time, more) => {
      const bound = parseBound(formatTimestamp(time).replace('Z', `${more ?? ''}Z`))!;
      const isExact = /^0*$/.test(more ?? '');
      assert.equal(bound, isExact ? time : time + 1);
    }),
  );
  assert.equal(parseBound('9999-12-31T23:59:59.999999Z'), 253_402_300_800_000);
  assert.equal(parseBound('2026-02-30T00:00:00.0001Z'), undefined);
});
