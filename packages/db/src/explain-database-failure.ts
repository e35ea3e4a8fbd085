/** What an operator does about errors by their codes: SQLSTATE (appendix A of the manual of Postgres), Node's, and Prisma's (P…). */
const ADVICE: readonly (readonly [codes: RegExp, sentence: string])[] = [
  [/^(28P01|28000|P1000)$/, 'Postgres refuses the login of DATABASE_URL: correct its user or password.'],
  [/^(3D000|P1003)$/, 'The database that DATABASE_URL names does not exist: create it, or correct the name.'],
  [/^(42P01|42703|P2021|P2022)$/, 'The database of DATABASE_URL lacks tables of this release: run "admin migrate".'],
  [/^(53300|P2037)$/, 'Postgres has no free connection: see "Connections" in docs/operations.md.'],
  [
    /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|57P0[123]|P1001|P1002)$/,
    'Postgres does not answer at DATABASE_URL.',
  ],
];

/** `pg` has no code for connections that time out or end. */
const NO_ANSWER = /connection timeout|timeout expired|connection terminated/i;

/** Errors within an error are followed so far. */
const MAX_DEPTH = 6;

/** The fields in which Prisma, its adapter and Node put codes, and the errors within. */
type Failure = { code?: unknown; originalCode?: unknown; message?: unknown; cause?: unknown; meta?: unknown };

/** A sentence for the operator about an error of Postgres or of the way to it; null for every other error. */
export const explainDatabaseFailure = (error: unknown, depth = 0): string | null => {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return null;
  const { code, originalCode, message, cause, meta } = error as Failure;
  const { errors = [], driverAdapterError } = { ...error, ...(meta as object | undefined) } as {
    errors?: unknown[];
    driverAdapterError?: unknown;
  };
  for (const inner of [driverAdapterError, cause, ...errors]) {
    const found = explainDatabaseFailure(inner, depth + 1);
    if (found !== null) return found;
  }
  for (const [codes, sentence] of ADVICE)
    if ([code, originalCode].some((found) => typeof found === 'string' && codes.test(found))) return sentence;
  return typeof message === 'string' && NO_ANSWER.test(message) ? 'Postgres does not answer at DATABASE_URL.' : null;
};
