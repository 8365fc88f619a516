// A handler that does nothing: no authentication, no logic, no disk.
import fastify from 'fastify';

const server = fastify();
server.delete('/v1/store/orders/:orderId', (_request, reply) => reply.code(204).send());
server.get('/v1/store/orders', (_request, reply) => reply.code(204).send());
await server.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
