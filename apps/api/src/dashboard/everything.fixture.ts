/** What of a test's world is needed here; the world itself is known to tests alone. */
type Reach = {
  sql: (text: string) => Promise<Record<string, unknown>[]>;
  apis: { lines: () => string[] }[];
  workers: { lines: () => string[] }[];
};

/** Every row of the database as text, with bytes in hex; of all tables but `except`. */
export const databaseText = async ({ sql }: Pick<Reach, 'sql'>, except: readonly string[] = []): Promise<string> => {
  const all = await sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  const tables = all.filter(({ tablename }) => !except.includes(String(tablename)));
  const rows = await Promise.all(tables.map(({ tablename }) => sql(`SELECT t::text AS text FROM "${tablename}" t`)));
  return rows
    .flat()
    .map(({ text }) => String(text))
    .join('\n');
};

/** Every line that a process of the world has logged. */
export const logText = ({ apis, workers }: Pick<Reach, 'apis' | 'workers'>): string =>
  [...apis, ...workers].flatMap((process) => process.lines()).join('\n');

/** The forms in which a text could lie somewhere: as it is, in hex, in base64. */
export const formsOf = (text: string): string[] => {
  const bytes = Buffer.from(text);
  return [text, bytes.toString('hex'), bytes.toString('base64')];
};
