/** The parts of a test world that are needed here. */
type World = {
  sql: (text: string) => Promise<Record<string, unknown>[]>;
  apis: { lines: () => string[] }[];
  workers: { lines: () => string[] }[];
};

/** All rows of the database as text, with bytes in hex, except those of the tables in `except`. */
export const databaseText = async ({ sql }: Pick<World, 'sql'>, except: readonly string[] = []): Promise<string> => {
  const all = await sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  const tables = all.filter(({ tablename }) => !except.includes(String(tablename)));
  const rows = await Promise.all(tables.map(({ tablename }) => sql(`SELECT t::text AS text FROM "${tablename}" t`)));
  return rows
    .flat()
    .map(({ text }) => String(text))
    .join('\n');
};

/** All log lines of the processes. */
export const logText = ({ apis, workers }: Pick<World, 'apis' | 'workers'>): string =>
  [...apis, ...workers].flatMap((process) => process.lines()).join('\n');

/** The forms in which a text could be stored: plain, in hex, in base64. */
export const formsOf = (text: string): string[] => {
  const bytes = Buffer.from(text);
  return [text, bytes.toString('hex'), bytes.toString('base64')];
};
