import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import type { Finding } from '../proof/finding.js';

/** Verifying on request: what was found, or why it could not be looked at. */
export const useVerify = (verify: () => Promise<Finding[]>): UseMutationResult<Finding[], Error, void> =>
  useMutation({ mutationFn: verify });
