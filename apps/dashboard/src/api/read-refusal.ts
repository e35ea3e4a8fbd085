import { ERROR_CATALOGUE, type ErrorCode } from '@vat/domain/errors';
import { ApiError } from './api-error.js';

const isCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(ERROR_CATALOGUE, code);

/** Makes an {@link ApiError} of an answer that is no success, whatever its body; a proxy's page of HTML too. */
export const readRefusal = async (response: Response): Promise<ApiError> => {
  const body: unknown = await response.json().catch(() => null);
  const error = (body as { error?: unknown } | null)?.error;
  const { code, message, ...extra } = (typeof error === 'object' && error !== null ? error : {}) as Record<
    string,
    unknown
  >;
  return new ApiError(
    response.status,
    isCode(code) ? code : null,
    typeof message === 'string' ? message : `The service answered ${response.status} without saying why.`,
    extra,
    response.headers.get('x-request-id'),
  );
};
