import { ApiError } from './api-error.js';

/** Whether a reading failed because there is no such thing. Ids are never given anew: it need not be asked for again. */
export const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;
