// @ts-check
// `npm run generate`: the Prisma client from prisma/schema.prisma, offline.
import { generateDatabaseClient } from './prepare/generate.mjs';

try {
  const did = await generateDatabaseClient();
  process.stderr.write(did ? 'generated the database client\n' : 'the database client is up to date\n');
} catch (error) {
  process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
  process.exit(1);
}
