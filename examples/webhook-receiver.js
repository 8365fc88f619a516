// Receives the changes of a webhook on port 3000 (or PORT), in order, each once.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { verifyWebhook, WebhookVerificationError } from '@store-orders/client';

/** Where the last delivery ended. A real program keeps this in its database, in the transaction with its results. */
let position;

function receive({ after, next, changes }) {
  // Repeated, because the response was lost.
  if (next === position) return;
  if (position !== undefined && after !== position) {
    throw new Error('changes are missing: read on from the position with store.changes()');
  }
  for (const { type, order } of changes) console.log(type, order.id);
  position = next;
}

const server = createServer(async (request, response) => {
  try {
    const body = await text(request);
    receive(await verifyWebhook(body, request.headers, process.env.WEBHOOK_SECRET));
    response.writeHead(204).end();
  } catch (error) {
    // Anything but 2xx is sent again later.
    response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end();
    console.error(error.message);
  }
});
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log('listening'));
process.once('SIGTERM', () => server.close());
