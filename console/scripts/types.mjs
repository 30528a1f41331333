// Makes src/api/schema.d.ts from the description of a running server, or checks with --check that it is current.
//
//   node scripts/types.mjs http://127.0.0.1:8090 [--check]
import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'

const [server = 'http://127.0.0.1:8090', check] = process.argv.slice(2)
const file = new URL('../src/api/schema.d.ts', import.meta.url)
const response = await fetch(new URL('/api/v1/openapi.json', server))
if (!response.ok) throw new Error(`${server} answers ${response.status}`)
const description = await response.json()
// Without their names, operations are described where their paths are, which is where they are looked up.
for (const operations of Object.values(description.paths)) for (const operation of Object.values(operations)) delete operation.operationId
const nodes = await openapiTS(description)
const types = `// Made from the description of the API by scripts/types.mjs. Not to be edited.\n\n${astToString(nodes)}`
if (check === '--check') {
  if ((await readFile(file, 'utf8')) !== types) {
    console.error('src/api/schema.d.ts is not what the server describes: run scripts/console types')
    process.exit(1)
  }
} else {
  await writeFile(file, types)
}
