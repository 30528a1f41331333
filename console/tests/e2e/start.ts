import { launch } from '../program'

export default function start(): Promise<() => Promise<void>> {
  return launch()
}
