// What people write by hand: Fastify and pg, one statement for each cancel, without keys and history.
import fastify from 'fastify';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const app = fastify();
app.delete('/v1/store/orders/:id', async (request, reply) => {
  const { rowCount } = await pool.query({
    name: 'cancel',
    text: "UPDATE by_hand SET status = 'cancelled' WHERE id = $1 AND status = 'pending'",
    values: [request.params.id],
  });
  reply.code(rowCount === 1 ? 204 : 409).send();
});
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
