import { useContext } from 'react';
import type { PlannedActs } from './create-planned-acts.js';
import { PlannedContext } from './planned-context.js';

/** The planned acts inside a page: finished before the session they need is ended. */
export const usePlanned = (): PlannedActs => {
  const acts = useContext(PlannedContext);
  if (!acts) throw new Error('a page stands outside the context of planned acts');
  return acts;
};
