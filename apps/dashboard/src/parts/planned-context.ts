import { createContext } from 'react';
import type { PlannedActs } from './create-planned-acts.js';

/** Carries the planned acts to the pages; `main.tsx` opens them. */
export const PlannedContext = createContext<PlannedActs | null>(null);
