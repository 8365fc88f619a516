// The limit of Node.js itself: one prepared response, or 304 if If-None-Match has its ETag.
import { createServer } from 'node:http';

const ETAG = '"1"';
const body = Buffer.from('[]');

createServer((request, response) => {
  if (request.headers['if-none-match'] === ETAG) {
    response.writeHead(304, { etag: ETAG }).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');
