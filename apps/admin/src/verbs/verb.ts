/** The words after the verb, as `node:util` parsed them. */
export type Arguments = { positionals: string[]; flags: Record<string, string | boolean | undefined> };

/** One command: how it is written, which flags it knows, and what it does. It returns the one JSON object to print. */
export type Verb = {
  usage: string;
  flags: Record<string, { type: 'string' | 'boolean' }>;
  run: (args: Arguments) => Promise<Record<string, unknown>>;
};
