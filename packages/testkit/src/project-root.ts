import { fileURLToPath } from 'node:url';

/** The folder of the repository, from source and from dist alike. */
export const PROJECT_ROOT = fileURLToPath(new URL('../../..', import.meta.url));
