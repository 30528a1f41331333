//! A plot of ratios: a bar for each question, whiskers for the spread over runs, a line at one.
//!
//! Written by hand, because it is a few rectangles: no fonts to load, no scripts, and the colours follow the
//! reader's light or dark theme.

use crate::spread::Range;
use std::fmt::Write;

/// One bar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bar<'a> {
    pub(crate) name: &'a str,
    pub(crate) ratio: Range,
}

/// What a bar says, and what colour says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Faster,
    /// Some runs were faster and some were not, whatever the median.
    Even,
    Slower,
}

impl Verdict {
    const ALL: [Self; 3] = [Self::Faster, Self::Even, Self::Slower];

    fn on(ratio: Range) -> Self {
        match ratio {
            Range { max, .. } if max < 1.0 => Self::Faster,
            Range { min, .. } if min > 1.0 => Self::Slower,
            Range { .. } => Self::Even,
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Even => "even",
            Self::Slower => "slower",
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Self::Faster => "faster in every run",
            Self::Even => "no clear difference",
            Self::Slower => "slower in every run",
        }
    }
}

/// What the plot says around the bars.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Labels<'a> {
    pub(crate) title: &'a str,
    pub(crate) subtitle: &'a str,
    /// Who is at one.
    pub(crate) peer: &'a str,
}

const WIDTH: f64 = 860.0;
const TOP: f64 = 104.0;
const ROW: f64 = 30.0;
const THICK: f64 = 14.0;
const LEFT: f64 = 290.0;
const RIGHT: f64 = 64.0;
const BOTTOM: f64 = 78.0;

const STYLE: &str = "
    svg { color-scheme: light dark; font-family: system-ui, sans-serif; font-size: 13px }
    .paper { fill: #ffffff }
    text { fill: #1f2933 }
    .title { font-size: 17px; font-weight: 600 }
    .quiet { fill: #5b6770; font-size: 12px }
    .value { font-weight: 600; font-variant-numeric: tabular-nums }
    .grid { stroke: #e3e7eb; stroke-width: 1 }
    .one { stroke: #1f2933; stroke-width: 1.5; stroke-dasharray: 4 3 }
    .whisker { stroke: #1f2933; stroke-width: 1.5 }
    .faster { fill: #2f9e8f }
    .even { fill: #94a3b0 }
    .slower { fill: #d9822b }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #12171c }
      text { fill: #e6ebef }
      .quiet { fill: #9aa7b1 }
      .grid { stroke: #2a323a }
      .one, .whisker { stroke: #e6ebef }
      .faster { fill: #35a897 }
      .even { fill: #6d7c89 }
      .slower { fill: #e0913f }
    }
";

/// From ratios to pixels.
#[derive(Clone, Copy, Debug)]
struct Scale {
    longest: f64,
    step: f64,
}

impl Scale {
    /// Wide enough for every whisker, and always for the line at one with room beside it.
    fn of(bars: &[Bar<'_>]) -> Self {
        let furthest =
            bars.iter().map(|bar| bar.ratio.max).filter(|ratio| ratio.is_finite()).fold(1.0, f64::max);
        let step = [0.25, 0.5, 1.0, 2.0, 5.0].into_iter().find(|step| furthest / step <= 8.0).unwrap_or(10.0);
        Self { longest: ((furthest * 1.04) / step).ceil() * step, step }
    }

    fn x(self, ratio: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (ratio / self.longest).clamp(0.0, 1.0)
    }

    fn ticks(self) -> impl Iterator<Item = f64> {
        (0..=40u32).map(move |tick| f64::from(tick) * self.step).take_while(move |tick| *tick <= self.longest)
    }
}

/// The plot as SVG.
pub(crate) fn svg(labels: Labels<'_>, bars: &[Bar<'_>]) -> String {
    let scale = Scale::of(bars);
    let foot = bars.iter().fold(TOP, |y, _| y + ROW);
    let height = foot + BOTTOM;
    let mut svg = String::new();
    let _ = write!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">
  <title>{title}</title>
  <style>{STYLE}  </style>
  <rect class="paper" width="{WIDTH}" height="{height}" rx="8"/>
  <text class="title" x="24" y="36">{title}</text>
  <text class="quiet" x="24" y="58">{subtitle}</text>
"#,
        title = escape(labels.title),
        subtitle = escape(labels.subtitle),
    );
    draw_legend(&mut svg, height - 20.0);
    draw_axis(&mut svg, scale, foot, labels.peer);
    let mut y = TOP + ROW / 2.0;
    for bar in bars {
        draw_bar(&mut svg, scale, y, *bar);
        y += ROW;
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_legend(svg: &mut String, y: f64) {
    let mut x = LEFT;
    for verdict in Verdict::ALL {
        let (class, meaning) = (verdict.class(), verdict.meaning());
        let _ = writeln!(
            svg,
            r#"  <rect class="{class}" x="{x}" y="{}" width="12" height="12" rx="2"/>"#,
            y - 10.5
        );
        let _ = writeln!(svg, r#"  <text class="quiet" x="{}" y="{y}">{meaning}</text>"#, x + 18.0);
        x += 166.0;
    }
}

fn draw_axis(svg: &mut String, scale: Scale, foot: f64, peer: &str) {
    for tick in scale.ticks() {
        let x = scale.x(tick);
        let _ = writeln!(svg, r#"  <line class="grid" x1="{x:.1}" y1="{TOP}" x2="{x:.1}" y2="{foot}"/>"#);
        let _ = writeln!(
            svg,
            r#"  <text class="quiet" x="{x:.1}" y="{:.1}" text-anchor="middle">{tick}</text>"#,
            foot + 18.0
        );
    }
    let (one, peer) = (scale.x(1.0), escape(peer));
    let _ = writeln!(
        svg,
        r#"  <line class="one" x1="{one:.1}" y1="{:.1}" x2="{one:.1}" y2="{foot}"/>
  <text class="quiet" x="{one:.1}" y="{:.1}" text-anchor="middle">{peer} = 1</text>
  <text class="quiet" x="{LEFT}" y="{:.1}">time per decision relative to {peer}; shorter is faster</text>"#,
        TOP - 4.0,
        TOP - 10.0,
        foot + 38.0
    );
}

fn draw_bar(svg: &mut String, scale: Scale, y: f64, bar: Bar<'_>) {
    let Range { min, median, max } = bar.ratio;
    let (end, low, high) = (scale.x(median), scale.x(min), scale.x(max));
    let (class, top, text) = (Verdict::on(bar.ratio).class(), y - THICK / 2.0, y + 4.5);
    let _ = writeln!(
        svg,
        r#"  <text x="{:.1}" y="{text:.1}" text-anchor="end">{}</text>
  <rect class="bar {class}" x="{LEFT}" y="{top:.1}" width="{:.1}" height="{THICK}" rx="2"/>
  <path class="whisker" fill="none" d="M{low:.1} {y:.1}H{high:.1}M{low:.1} {up:.1}v8M{high:.1} {up:.1}v8"/>
  <text class="value" x="{:.1}" y="{text:.1}" text-anchor="end">{median:.2}</text>"#,
        LEFT - 12.0,
        escape(bar.name),
        end - LEFT,
        WIDTH - 20.0,
        up = y - 4.0,
    );
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABELS: Labels<'_> = Labels { title: "ours & \"theirs\"", subtitle: "a < b", peer: "peer" };

    fn bar(name: &str, median: f64) -> Bar<'_> {
        Bar { name, ratio: Range { min: median * 0.9, median, max: median * 1.1 } }
    }

    fn count(svg: &str, class: &str) -> usize {
        let document = roxmltree::Document::parse(svg).expect("well-formed");
        let is = |node: &roxmltree::Node<'_, '_>| {
            node.attribute("class").is_some_and(|classes| classes.split(' ').any(|each| each == class))
        };
        document.descendants().filter(is).count()
    }

    #[test]
    fn there_is_a_bar_a_whisker_and_a_value_for_each_question() {
        let svg = svg(LABELS, &[bar("a", 0.5), bar("b <&> \"c\"", 1.4), bar("d", 0.95)]);
        assert_eq!(["bar", "whisker", "value"].map(|class| count(&svg, class)), [3, 3, 3]);
        assert_eq!(count(&svg, "one"), 1);
    }

    #[test]
    fn only_what_holds_in_every_run_is_called_faster_or_slower() {
        let verdict = |median| Verdict::on(bar("a", median).ratio);
        assert_eq!(
            [0.5, 0.95, 1.05, 1.4].map(verdict),
            [Verdict::Faster, Verdict::Even, Verdict::Even, Verdict::Slower]
        );
    }

    #[test]
    fn no_questions_make_an_empty_plot() {
        let svg = svg(LABELS, &[]);
        assert_eq!((count(&svg, "bar"), count(&svg, "one")), (0, 1));
    }

    #[test]
    fn everything_lies_within_the_picture() {
        for furthest in [0.1, 1.0, 1.9, 7.0, 300.0] {
            let scale = Scale::of(&[bar("a", furthest)]);
            assert!(scale.longest >= furthest * 1.1 || furthest > 100.0);
            assert!(scale.x(furthest) <= WIDTH - RIGHT && scale.x(1.0) < WIDTH - RIGHT);
            assert!(scale.ticks().count() <= 41);
        }
    }
}
