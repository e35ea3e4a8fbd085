/** Reads an answer's body to its end and says after each piece how many bytes there are. */
export const readStream = async (response: Response, onBytes: (bytes: number) => void): Promise<Blob> => {
  if (!response.body) return response.blob();
  const reader = response.body.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    bytes += value.byteLength;
    onBytes(bytes);
  }
  return new Blob(pieces, { type: response.headers.get('content-type') ?? 'application/octet-stream' });
};
