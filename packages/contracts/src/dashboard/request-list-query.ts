import { z } from 'zod';
import { pageQuery } from '../list-query.js';

/** Query of GET /app/api/requests. */
export const requestListQuery = z.strictObject({
  ...pageQuery,
  status: z.enum(['pending', 'completed', 'abandoned']).optional(),
});
