import { Prisma } from '../generated/client.js';

/**
 * What an UPDATE of `usage` u sets to give `units` back. A counter that was too low stays at zero instead of failing the
 * statement, which would be tried for ever; what was missing is noted beside it, for the audit to tell.
 */
export const releaseUnits = (units: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`reserved = GREATEST(u.reserved - ${units}, 0), shortfall = u.shortfall + GREATEST(${units} - u.reserved, 0)`;
