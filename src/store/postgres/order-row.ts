import type { Order, OrderStatus } from '../../orders/order.ts';
import type { Row } from './session.ts';
import { integer, number } from './values.ts';

/** The columns expected by `orderFromRow`. */
export const ORDER_COLUMNS = 'id, status, pet_id, quantity, ship_date, complete';

export function orderFromRow(row: Row): Order {
  const [id, status, petId, quantity, shipDate, complete] = row;
  return {
    id: BigInt(id!),
    status: status as OrderStatus,
    petId: integer(petId),
    quantity: integer(quantity),
    shipDate: number(shipDate),
    complete: complete === null ? undefined : complete === 't',
  };
}
