import type { RequestOrigin } from '@vat/domain';
import type { PriorityClass } from './job-catalogue.js';

/** The class of a live request's ask: a caller who waits goes before everybody, a watch after everybody. */
export const priorityClassOf = ({ origin, pending }: { origin: RequestOrigin; pending: boolean }): PriorityClass => {
  if (origin !== 'direct') return origin;
  return pending ? 'background' : 'interactive';
};
