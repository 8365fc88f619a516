import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import {
  FieldProblem,
  ORDER_FIELDS,
  orderOf,
  PET_FIELDS,
  petOf,
} from '../../../src/cli/files/fields.ts';
import {
  type Columns,
  type Fields,
  type FileRow,
  MAX_ROW_BYTES,
} from '../../../src/cli/files/row.ts';
import { readValues } from '../../../src/cli/files/rows.ts';
import { FORMATS, type Format, WRITERS } from '../../../src/cli/files/write-orders.ts';
import type { Order } from '../../../src/domain/order.ts';
import { anyOrder } from '../../domain/arbitraries.ts';

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function rows(
  content: string | Buffer,
  chunkSize = 1 << 18,
  columns: Columns = ORDER_FIELDS,
): Promise<FileRow<Fields>[]> {
  const all: FileRow<Fields>[] = [];
  const chunks = inChunks(Buffer.from(content as string), chunkSize);
  for await (const batch of readValues(chunks, columns, (fields) => fields)) all.push(...batch);
  return all;
}

const fieldsOf = (row: FileRow<Fields> | undefined): Fields => {
  assert.ok(row !== undefined && row.problem === undefined, inspect(row));
  return row.value;
};
const problems = (found: readonly FileRow<Fields>[]) =>
  found.flatMap((row) => (row.problem !== undefined ? [`${row.at}: ${row.problem}`] : []));

function write(format: Format, orders: readonly Order[]): string {
  const { start, order, end } = WRITERS[format];
  return start + orders.map(order).join('') + end;
}

for (const format of FORMATS.filter((each) => each !== 'spreadsheet')) {
  test(`orders written as ${format} are read back without loss, in chunks of any size`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyOrder, { maxLength: 20 }),
        fc.integer({ min: 1, max: 200 }),
        async (orders, chunkSize) => {
          const read = await rows(write(format, orders), chunkSize);
          assert.deepEqual(
            read.map((row) => orderOf(fieldsOf(row))),
            orders,
          );
        },
      ),
    );
  });
}

test('a response of listOrders is read without conversion', async () => {
  const [first, second] = await rows('[{"id":9007199254740993,"complete":false},{"id":2}]');
  assert.deepEqual(fieldsOf(first), { id: 9007199254740993n, complete: false });
  assert.deepEqual(fieldsOf(second), { id: 2n });
  assert.deepEqual(await rows('[]'), []);
  assert.deepEqual(await rows('  [ \n ] \n'), []);
});

test('an empty or blank file has no rows', async () => {
  for (const content of ['', '\n', '  \r\n\t']) assert.deepEqual(await rows(content), []);
});

test('byte order marks, CRLF, blank lines and a missing last newline are accepted', async () => {
  const bom = '\ufeff';
  for (const content of [
    `${bom}{"id":1}\r\n\r\n{"id":2}`,
    `${bom}id,status\r\n1,\r\n\r\n2,\r\n`,
    `${bom} [ {"id":1} ,\r\n {"id":2} ]`,
    'id,status\n"1",""\n2,',
  ]) {
    const ids = (await rows(content)).map((row) => fieldsOf(row).id);
    assert.deepEqual(ids, [1n, 2n], content);
  }
});

test('NDJSON problems are reported by line', async () => {
  const lines = ['{"id":1}', '{"id":', '', '[1]', '"x"', '{"id":2} {"id":3}', '{"id":4}'];
  assert.deepEqual(problems(await rows(lines.join('\n'))), [
    'line 2: is not valid JSON',
    'line 4: is not a JSON object',
    'line 5: is not a JSON object',
    'line 6: is not valid JSON',
  ]);
});

test('JSON array problems are reported by line and item', async () => {
  const text = '[{"id":1},\n{"id":"}],[\\""},\n\n  7,{"a":[{}]},,\n{"id":2}]';
  const found = await rows(text);
  assert.deepEqual(problems(found), [
    'line 4, item 3: is not a JSON object',
    'line 4, item 5: is not valid JSON',
  ]);
  assert.equal(found.length, 6);
});

test('mismatched brackets are reported', async () => {
  for (const text of [
    '[{"id":1}}[{"id":2}]',
    '[{"id":1],{"id":2}]',
    '[}]',
    '[{"id":1}},{"id":2}]',
  ]) {
    assert.notEqual(problems(await rows(text)).length, 0, text);
  }
});

test('an array that is not closed, or is followed by more data, is reported', async () => {
  for (const text of ['[{"id":1}', '[{"id":1},', '[', '[{"id":1}}', '["', '[{]']) {
    assert.match(problems(await rows(text)).join(), /not closed/, text);
  }
  assert.match(
    problems(await rows('[{"id":1}] {"id":2}')).join(),
    /there is text after the JSON array/,
  );
});

test('CSV problems are reported by line', async () => {
  const found = await rows('id,quantity\n1,2\n3\n4,5,6\n');
  assert.deepEqual(problems(found), [
    'line 3: has 1 fields, the header has 2',
    'line 4: has 3 fields, the header has 2',
  ]);
  const broken = problems(await rows('id,quantity\n"7,8\n9,10\n'));
  assert.match(broken.join(), /^line \d: is not valid CSV/);
});

test('unknown and repeated columns in a CSV header are reported', async () => {
  assert.match(problems(await rows('id,petid\n1,2\n')).join(), /line 1.*"petid"/);
  assert.match(problems(await rows('id,id\n1,2\n')).join(), /line 1.*twice/);
  assert.match(problems(await rows('garbage\n1\n')).join(), /"garbage"/);
});

test('invalid UTF-8 is reported for its row', async () => {
  const broken = Buffer.concat([Buffer.from('{"id":1}\n{"status":"'), Buffer.from([0xff, 0xc3])]);
  assert.deepEqual(problems(await rows(Buffer.concat([broken, Buffer.from('"}\n{"id":2}')]))), [
    'line 2: is not valid UTF-8',
  ]);
  const csv = Buffer.concat([
    Buffer.from('id,name\n1,'),
    Buffer.from([0xff]),
    Buffer.from('\n2,b'),
  ]);
  assert.deepEqual(problems(await rows(csv, 1 << 18, PET_FIELDS)), ['line 2: is not valid UTF-8']);
});

test('U+FFFD is a valid character, even in a file with invalid UTF-8', async () => {
  const good = Buffer.from('id,name\n1,a\ufffdb\n');
  for (const size of [1, 3, 1 << 18]) {
    assert.deepEqual((await rows(good, size, PET_FIELDS)).map(fieldsOf), [
      { id: 1n, name: 'a\ufffdb' },
    ]);
    const bad = Buffer.concat([good, Buffer.from('2,\xff\n', 'latin1'), Buffer.from('3,\ufffd')]);
    const found = await rows(bad, size, PET_FIELDS);
    assert.deepEqual(problems(found), ['line 3: is not valid UTF-8']);
    assert.equal(found.length, 3);
  }
  for (const [content, line] of [
    ['id,name\r\n1,"b\r\nb"\r\n2,c\xff\r\n', 4],
    ['id,name\r1,a\r2,b\xff\r3,c\r', 3],
    ['id,name\n1,"a\rb"\n3,e\xff\n', 3],
    ['id,name\n1,"\xc3\xa9"\n3,\xc3\n', 3],
    ['id,name\n1,a\n\n\n3,\xed\xa0\x80', 5],
  ] as const) {
    for (const size of [1, 2, 5, 1 << 18]) {
      const found = await rows(Buffer.from(content, 'latin1'), size, PET_FIELDS);
      assert.deepEqual(problems(found), [`line ${line}: is not valid UTF-8`]);
    }
  }
  const last = Buffer.concat([good, Buffer.from('2,"x\n\xe9"', 'latin1')]);
  assert.deepEqual(problems(await rows(last, 4, PET_FIELDS)), ['line 4: is not valid UTF-8']);
});

test('exactly the CSV rows with invalid UTF-8 are reported, by the line where they end', async () => {
  const field = fc.array(fc.constantFrom('a', 'é', '\ufffd', '\n', '\r\n', 'BAD', '€', '𝄞'), {
    maxLength: 6,
  });
  const lineEnd = fc.constantFrom('\n', '\r\n');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(field, lineEnd), { maxLength: 8 }),
      fc.integer({ min: 1, max: 9 }),
      async (records, size) => {
        let line = 1;
        const expected: string[] = [];
        const parts = [Buffer.from('id,name\n')];
        for (const [index, [texts, end]] of records.entries()) {
          line += 1 + texts.filter((text) => text.includes('\n')).length;
          if (texts.includes('BAD')) expected.push(`line ${line}: is not valid UTF-8`);
          const bytes = texts.map((text) =>
            text === 'BAD' ? Buffer.from([0xe2, 0x82]) : Buffer.from(text),
          );
          parts.push(Buffer.from(`${index},"`), ...bytes, Buffer.from(`"${end}`));
        }
        const found = await rows(Buffer.concat(parts), size, PET_FIELDS);
        assert.deepEqual(problems(found), expected);
        assert.equal(found.length, records.length);
      },
    ),
  );
});

test('lines of a CSV file may end in LF, CRLF or CR, and LF and CRLF may be mixed', async () => {
  for (const csv of [
    'id,name\n1,a\r\n2,b\n3,c\r\n',
    'id,name\r\n1,a\n2,b\r\n3,c',
    'id,name\r1,a\r2,b\r3,c',
  ]) {
    for (const size of [1, 1 << 18]) {
      assert.deepEqual((await rows(csv, size, PET_FIELDS)).map(fieldsOf), [
        { id: 1n, name: 'a' },
        { id: 2n, name: 'b' },
        { id: 3n, name: 'c' },
      ]);
    }
  }
});

test('a repeated field of a JSON object is reported, even if its name is escaped', async () => {
  const lines = [
    '{"id":1,"id":2}',
    '{"id":1,"petId":2,"i\\u0064" : 1}',
    '{"id":1,"name":"\\"id\\":","tag":"a\\\\"}',
    '{"id":1,"name":{"id":2},"tag":[{"id":1},"id",":"]}',
    '{"id":1,"tag":{"a":1,"a":1}}',
    '{"category":{"name":"x"},"id":1,"name":"y","tag":"t","tag":"u"}',
    '{"id" :1,"id":2}',
  ];
  assert.deepEqual(problems(await rows(lines.join('\n'))), [
    'line 1: has the field "id" twice',
    'line 2: has the field "id" twice',
    'line 5: has the field "a" twice',
    'line 6: has the field "tag" twice',
    'line 7: has the field "id" twice',
  ]);
});

test('unpaired surrogates are refused, as UTF-8 cannot represent them', async () => {
  const [row] = await rows('{"id":1,"name":"a\\ud800"}');
  assert.throws(() => petOf(fieldsOf(row)), /unpaired surrogates/);
});

test('a row that is too long is reported, and the next row is read', async () => {
  const long = `{"id":1,"status":"${'x'.repeat(3 * MAX_ROW_BYTES)}"}`;
  for (const text of [`${long}\n{"id":2}`, `[${long},{"id":2}]`]) {
    const found = await rows(text);
    assert.equal(found.length, 2);
    assert.match(problems(found).join(), /longer than 1048576 bytes/);
    assert.deepEqual(fieldsOf(found[1]), { id: 2n });
  }
  const csv = await rows(`id,status\n1,"${'x'.repeat(3 * MAX_ROW_BYTES)}"\n`);
  assert.match(problems(csv).join(), /line 2: is not valid CSV/);
});

const assertRefused = (fields: Fields, reason: RegExp) =>
  assert.throws(
    () => orderOf(fields),
    (error) => error instanceof FieldProblem && reason.test(error.message),
  );

test('an invalid field is refused with a reason', async () => {
  assertRefused({ id: 2n ** 63n }, /id must be within int64; it is 9223372036854775808/);
  assertRefused({ id: '7' }, /id must be a number; it is the string "7"/);
  assertRefused({ id: '07' }, /id must be an integer.*"07"/);
  assertRefused({ quantity: -1n }, /quantity must be 0 or more; it is -1/);
  assertRefused({ shipDate: '2026-11-20T05:18:56' }, /shipDate must be a date-time with an offset/);
  assertRefused({ shipDate: 5n }, /shipDate must be a string/);
  assertRefused({ complete: 'yes' }, /complete must be true or false/);
  assertRefused({ complete: 1n }, /complete must be true or false/);
  assertRefused({ status: 'sent' }, /status must be pending, shipped or cancelled; it is "sent"/);
  assertRefused({ petID: 1n }, /unknown field "petID"/);
  assertRefused({ id: {} }, /an object/);
  assertRefused({ ['__proto__']: 1n } as Fields, /^$|unknown/);
  for (const number of ['1.0', '1e3', '-0', '5.00000000000000000000001']) {
    const [row] = await rows(`{"id":${number}}`);
    assertRefused(
      fieldsOf(row),
      new RegExp(`id must be an integer, in digits only; it is ${number}$`),
    );
  }
});

test('null and empty CSV fields count as no value, and the status defaults to pending', async () => {
  const [row] = await rows('{"id":null,"petId":null,"complete":true,"status":null}');
  const nothing = {
    ...{ id: undefined, petId: undefined, quantity: undefined, shipDate: undefined },
    ...{ reference: undefined, reason: undefined, trackingNumber: undefined },
  };
  assert.deepEqual(orderOf(fieldsOf(row)), { ...nothing, complete: true, status: 'pending' });
  const [csv] = await rows('id,petId,complete,status\n,,TRUE,shipped\n');
  assert.deepEqual(orderOf(fieldsOf(csv)), { ...nothing, complete: true, status: 'shipped' });
});

test('a row without any value, such as spreadsheets append, is refused', async () => {
  const [object] = await rows('{}');
  assertRefused(fieldsOf(object), /^has no value in any field$/);
  const [nulls] = await rows('{"id":null,"status":null}');
  assertRefused(fieldsOf(nulls), /^has no value in any field$/);
  const [, csv] = await rows('id,petId,quantity\n1,2,3\n,,\n');
  assertRefused(fieldsOf(csv), /^has no value in any field$/);
});

test('only cancelled orders have a reason, and only shipped ones a tracking number', async () => {
  const [cancelled] = await rows('id,status,reason\n1,cancelled,out_of_stock\n');
  assert.equal(orderOf(fieldsOf(cancelled)).reason, 'out_of_stock');
  const [shipped] = await rows('{"id":1,"status":"shipped","trackingNumber":"00340"}');
  assert.equal(orderOf(fieldsOf(shipped)).trackingNumber, '00340');
  assertRefused({ id: 1n, reason: 'other' }, /^reason is for orders whose status is cancelled$/);
  assertRefused(
    { id: 1n, status: 'cancelled', trackingNumber: 'x' },
    /^trackingNumber is for orders whose status is shipped$/,
  );
  assertRefused(
    { id: 1n, status: 'cancelled', reason: 'x'.repeat(65) },
    /^reason must be 1 to 64 characters/,
  );
});

test('all problems of a row are reported together', async () => {
  assertRefused(
    { id: true, quantity: -1n, shipDate: 'soon', size: 1n },
    /unknown field "size"; id must be .*; quantity must be .*; shipDate must be /,
  );
});

test('the message about an invalid time says what is wrong with it', async () => {
  assertRefused({ shipDate: '2026-11-20T05:18:56' }, /a date-time with an offset, such as .* or /);
  assertRefused({ shipDate: '2026-11-20T05:18:56+0100' }, /offset has a colon, such as \+01:00/);
  assertRefused({ shipDate: '2026-02-30T05:18:56Z' }, /an existing day and time/);
  assertRefused({ shipDate: 'tomorrow' }, /a date-time with an offset/);
});

test('compressed files and unsupported spreadsheet formats are reported with instructions', async () => {
  for (const [content, problem] of [
    ['id;petId\n1;2\n', /semicolons between its columns; save the file as CSV with commas/],
    ['id\tpetId\n1\t2\n', /tabs between its columns/],
    [
      Buffer.from('\ufeffid,petId\n1,2\n', 'utf16le'),
      /is encoded in UTF-16; save the file as UTF-8/,
    ],
    [Buffer.from('id,petId\n1,2\n', 'utf16le'), /UTF-16/],
    [gzipSync('id,petId\n1,2\n'), /is compressed with gzip.*"gzip -dc FILE \|/],
    [zstdCompressSync('id,petId\n1,2\n'), /is compressed with Zstandard/],
    [Buffer.from('BZh91AY&SY'), /is compressed with bzip2/],
    [Buffer.from('fd377a585a00', 'hex'), /is compressed with xz/],
    [Buffer.from('SQLite format 3\0'), /is an SQLite database/],
    [Buffer.from('PK\x03\x04 and so on', 'latin1'), /\.xlsx.*save the file as CSV/],
    [Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1', 'latin1'), /\.xls\).*save the file as CSV/],
  ] as const) {
    const found = await rows(content);
    assert.equal(found.length, 1);
    assert.match(problems(found)[0]!, problem);
  }
});

test('a pet must have an id', () => {
  assert.deepEqual(petOf({ id: 1n, name: 'Ada' }), { id: 1n, name: 'Ada', tag: undefined });
  assert.throws(() => petOf({ name: 'Ada' }), /id is missing/);
});

test('a row of exactly the maximum length is read; one byte more is a problem', async () => {
  const row = (length: number) => `{"id":1}`.padEnd(length);
  for (const size of [1 << 18, MAX_ROW_BYTES + 7]) {
    for (const wrap of [(text: string) => `${text}\n`, (text: string) => `[${text}]`]) {
      const [exact] = await rows(wrap(row(MAX_ROW_BYTES)), size);
      assert.deepEqual(fieldsOf(exact), { id: 1n });
      const found = problems(await rows(wrap(row(MAX_ROW_BYTES + 1)), size));
      assert.equal(found.length, 1);
      assert.match(found[0]!, /is longer than 1048576 bytes/);
    }
  }
});

test('text that a database cannot store is refused', () => {
  assert.deepEqual(petOf({ id: 1n, name: 'a', tag: 'b' }), { id: 1n, name: 'a', tag: 'b' });
  assert.throws(() => petOf({ id: 1n, name: 'a\0b' }), /name must be a string without U\+0000/);
  assert.throws(() => petOf({ id: 1n, tag: '\ud800' }), /tag must be .* unpaired surrogates/);
});
