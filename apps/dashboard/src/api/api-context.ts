import { createContext } from 'react';
import type { Api } from './create-api.js';

/** Carries the API to the pages; `main.tsx` opens it. */
export const ApiContext = createContext<Api | null>(null);
