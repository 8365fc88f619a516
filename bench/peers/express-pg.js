// A typical handwritten service: the rows of a table as JSON.
import express from 'express';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const app = express();
app.get('/v1/store/orders', async (_request, response) => {
  const { rows } = await pool.query(
    `SELECT id, pet_id AS "petId", quantity, to_timestamp(ship_date / 1000.0) AS "shipDate", complete
     FROM orders WHERE status <> 'cancelled' ORDER BY id`,
  );
  response.json(rows);
});
app.listen(Number(process.env.PORT), '127.0.0.1');
