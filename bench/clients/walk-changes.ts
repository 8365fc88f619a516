// Reads all changes, one page after another. Takes the URL of a page, a kind, the Authorization header and, if it does not begin at the
// start, the rest of the query as arguments, and prints changes per second.
import { Agent, request } from 'node:http';

const [url, kind, authorization, from = ''] = process.argv.slice(2) as [
  ...[string, 'ours' | 'by hand', string, string | undefined],
];
const agent = new Agent({ keepAlive: true });

function get(target: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(target, { agent, headers: { authorization } }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () => resolve(body));
    });
    sent.on('error', reject);
    sent.end();
  });
}

let count = 0;
let query = from;
const begin = performance.now();
for (;;) {
  const page = JSON.parse(await get(url + query));
  count += page.changes.length;
  if (kind === 'ours') {
    if (!page.more) break;
    query = `&after=${page.next}`;
  } else {
    if (page.changes.length === 0) break;
    query = `&after=${page.after}&id=${page.id}`;
  }
}
process.stdout.write(String(count / ((performance.now() - begin) / 1000)));
