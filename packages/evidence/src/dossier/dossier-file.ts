/** One file of a dossier; `path` has forward slashes and only `[A-Za-z0-9._/-]`. */
export type DossierFile = { path: string; bytes: Uint8Array };

export const textFile = (path: string, text: string): DossierFile => ({ path, bytes: Buffer.from(text, 'utf8') });

/** A file of JSON for people and programs: indented, keys in the order given, a newline at the end. */
export const jsonFile = (path: string, value: unknown): DossierFile =>
  textFile(path, `${JSON.stringify(value, null, 2)}\n`);
