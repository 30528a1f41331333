import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

/** Smaller than this, packing saves nothing. */
const WORTHWHILE = 1024

/** Writes a .br and a .gz beside every file of the bundle: the server has no time to pack while people wait. */
export function packed(): Plugin {
  return {
    name: 'packed',
    apply: 'build',
    // Not generateBundle: what the other plugins still change would be packed as it was before.
    async writeBundle(options) {
      const folder = options.dir ?? 'dist'
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile() && /\.(js|css|html|svg)$/.test(entry.name))
      await Promise.all(files.map((file) => pack(join(file.parentPath, file.name))))
    },
  }
}

async function pack(path: string): Promise<void> {
  const plain = await readFile(path)
  if (plain.length < WORTHWHILE) return
  const br = await promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } })
  await writeFile(`${path}.br`, br)
  await writeFile(`${path}.gz`, await promisify(gzip)(plain, { level: 9 }))
}
