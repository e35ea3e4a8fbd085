import { decodeCursor } from '@vat/contracts';
import { AppError } from '@vat/domain';

/** The id that a list's cursor stands for, `null` without one; throws BAD_REQUEST for what no list gave. */
export const readCursor = (cursor: string | undefined): string | null => {
  if (cursor === undefined) return null;
  return decodeCursor(cursor) ?? refuseCursor();
};

/** Throws BAD_REQUEST for a cursor that no list gave. */
export const refuseCursor = (): never => {
  const message = 'cursor is not one that a list gave you';
  throw new AppError('BAD_REQUEST', { message: `${message}.`, extra: { fields: [{ path: 'cursor', message }] } });
};
