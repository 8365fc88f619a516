// Cancels orders one after another, or 1,000 in a request. Takes the origin, the Authorization header, the first id, how many orders
// and how many of them in a request as arguments, and prints cancels per second.
import { Agent, request } from 'node:http';

const [origin, authorization, ...numbers] = process.argv.slice(2) as [string, string, ...string[]];
const [first, count, atOnce] = numbers.map(Number) as [number, number, number];
const agent = new Agent({ keepAlive: true });
const headers = { authorization, 'content-type': 'application/json' };

function post(path: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}${path}`, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        const isDone = response.statusCode === 200 && !text.includes('"error"');
        if (isDone) resolve();
        else reject(new Error(`${response.statusCode} ${text.slice(0, 200)}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const begin = performance.now();
for (let id = first; id < first + count; id += atOnce) {
  if (atOnce === 1) await post(`/v2/store/orders/${id}/cancel`, '');
  else {
    const orders = Array.from({ length: atOnce }, (_, index) => `{"id":${id + index}}`);
    await post('/v2/store/orders/cancel', `{"orders":[${orders.join()}]}`);
  }
}
process.stdout.write(String(count / ((performance.now() - begin) / 1000)));
