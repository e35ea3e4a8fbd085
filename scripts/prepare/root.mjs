// @ts-check
import { fileURLToPath } from 'node:url';

/** The top folder of the project. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
