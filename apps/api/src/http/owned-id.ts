import { AppError, type IdKind, uuidOf } from '@vat/domain';

/** The stored id behind one in a path; ill-formed is answered like unknown (contract part 2 §1). */
export const ownedId = (kind: IdKind, id: string | string[] | undefined): string => {
  const uuid = typeof id === 'string' ? uuidOf(kind, id) : null;
  if (uuid === null) throw new AppError('NOT_FOUND');
  return uuid;
};
