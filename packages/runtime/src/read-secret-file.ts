import { readFileSync } from 'node:fs';

type Environment = Readonly<Record<string, string | undefined>>;

/** The text of a setting, `undefined` when it is unset, or what is wrong with how it was given. */
export type GivenSecret = { text: string | undefined; problem?: undefined } | { problem: string };

const isSet = (text: string | undefined): text is string => text !== undefined && text.trim() !== '';

/**
 * Reads the secret setting `name` from NAME, or from the file that NAME_FILE names (as Docker and Kubernetes mount secrets),
 * without the line break at its end. A problem names the setting, and neither the content nor the path: a secret that was put
 * into NAME_FILE by mistake would be printed. Source: contract part 3 §8.
 */
export const readSecretFile = (env: Environment, name: string): GivenSecret => {
  const file = env[`${name}_FILE`];
  const text = isSet(env[name]) ? env[name] : undefined;
  if (!isSet(file)) return { text };
  if (text !== undefined) return { problem: `${name}: set ${name} or ${name}_FILE, not both` };
  try {
    const content = readFileSync(file, 'utf8').replace(/[\r\n]+$/, '');
    return isSet(content) ? { text: content } : { problem: `${name}: the file of ${name}_FILE is empty` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `${name}: the file of ${name}_FILE cannot be read (${code ?? 'not a path'})` };
  }
};
