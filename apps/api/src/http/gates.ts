import type { RequestHandler } from 'express';

/** What a call passes before its route, in the order of judgement: who calls, and whether it may change something. */
export type Gates = { reading: RequestHandler[]; changing: RequestHandler[] };
