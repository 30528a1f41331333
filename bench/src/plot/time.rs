//! Lines over time against a level that was promised, one small picture for each story.

use super::{STYLE, escape};
use std::fmt::Write;

/// Small pictures under one title.
#[derive(Clone, Debug)]
pub(crate) struct TimePlot {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// What grows upwards.
    pub(crate) axis: String,
    pub(crate) columns: u32,
    pub(crate) frames: Vec<Frame>,
}

/// One line over time.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) name: String,
    /// What it should not exceed for long.
    pub(crate) promise: Option<f64>,
    /// Seconds, and how much.
    pub(crate) points: Vec<(f64, f64)>,
    /// When something was done, and what, if it is to be told.
    pub(crate) marks: Vec<(f64, String)>,
}

const WIDTH: f64 = 860.0;
const TOP: f64 = 104.0;
const MARGIN: f64 = 24.0;
/// Left of a frame, for its numbers.
const SIDE: f64 = 34.0;
/// Above a frame, for its name, and below it, for its seconds.
const HEAD: f64 = 22.0;
const FOOT: f64 = 26.0;

/// Where a frame lies, and how much of everything it shows.
#[derive(Clone, Copy, Debug)]
struct Window {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    seconds: f64,
    most: f64,
}

impl Window {
    fn x(self, seconds: f64) -> f64 {
        self.left + self.width * (seconds / self.seconds).clamp(0.0, 1.0)
    }

    fn y(self, value: f64) -> f64 {
        self.top + self.height * (1.0 - (value / self.most).clamp(0.0, 1.0))
    }
}

impl TimePlot {
    /// The plot as SVG.
    pub(crate) fn svg(&self) -> String {
        let columns = self.columns.max(1);
        let cell = (WIDTH - 2.0 * MARGIN) / f64::from(columns);
        let tall = if columns == 1 { 260.0 } else { 84.0 };
        let row = HEAD + tall + FOOT;
        let mut body = String::new();
        for (number, frame) in (0_u32..).zip(&self.frames) {
            let (across, down) = (f64::from(number % columns), f64::from(number / columns));
            let (left, top) = (MARGIN + SIDE + across * cell, TOP + down * row + HEAD);
            frame.draw(&mut body, left, top, cell - SIDE - 14.0, tall);
        }
        let rows = f64::from(u32::try_from(self.frames.len()).unwrap_or(u32::MAX).div_ceil(columns));
        let height = TOP + rows * row + 12.0;
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">
  <title>{title}</title>
  <style>{STYLE}
    .curve {{ fill: none; stroke: #2f9e8f; stroke-width: 1.8 }}
    .promise {{ stroke: #c22f5d; stroke-width: 1.5; stroke-dasharray: 5 3 }}
    .mark {{ stroke: #d9822b; stroke-width: 1.2; stroke-dasharray: 2 2 }}
    .small {{ font-size: 10.5px }}
  </style>
  <rect class="paper" width="{WIDTH}" height="{height}" rx="8"/>
  <text class="title" x="24" y="36">{title}</text>
  <text class="quiet" x="24" y="58">{subtitle}</text>
  <path class="curve" d="M24 82h22"/>
  <text class="quiet" x="52" y="86">{axis}</text>
  <path class="promise" d="M324 82h22"/>
  <text class="quiet" x="352" y="86">what was promised</text>
  <path class="mark" d="M524 74v16"/>
  <text class="quiet" x="534" y="86">something is done</text>
{body}</svg>
"#,
            title = escape(&self.title),
            subtitle = escape(&self.subtitle),
            axis = escape(&self.axis),
        )
    }
}

impl Frame {
    fn draw(&self, svg: &mut String, left: f64, top: f64, width: f64, height: f64) {
        let highest = self.points.iter().map(|point| point.1).chain(self.promise).fold(1.0, f64::max);
        let seconds = self.points.iter().map(|point| point.0).fold(1.0, f64::max);
        let window = Window { left, top, width, height, seconds, most: highest * 1.1 };
        let _ = writeln!(
            svg,
            r#"  <text class="small" x="{left:.1}" y="{:.1}">{}</text>"#,
            top - 7.0,
            escape(&self.name)
        );
        self.draw_axes(svg, window);
        for (at, what) in &self.marks {
            let x = window.x(*at);
            let _ = writeln!(svg, r#"  <path class="mark" d="M{x:.1} {top:.1}v{height:.1}"/>"#);
            let _ = writeln!(
                svg,
                r#"  <text class="quiet small" x="{:.1}" y="{:.1}">{}</text>"#,
                x + 4.0,
                top + 12.0,
                escape(what)
            );
        }
        if let Some(promise) = self.promise {
            let y = window.y(promise);
            let _ = writeln!(svg, r#"  <path class="promise" d="M{left:.1} {y:.1}h{width:.1}"/>"#);
        }
        let path = self.points.iter().fold(String::new(), |mut path, (at, value)| {
            let pen = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{pen}{:.1} {:.1}", window.x(*at), window.y(*value));
            path
        });
        let _ = writeln!(svg, r#"  <path class="curve" d="{path}"/>"#);
    }

    fn draw_axes(&self, svg: &mut String, window: Window) {
        let Window { left, top, width, height, seconds, most } = window;
        let foot = top + height;
        for value in [0.0, round(self.promise.unwrap_or(most / 1.1))] {
            let y = window.y(value);
            let _ = writeln!(svg, r#"  <path class="grid" d="M{left:.1} {y:.1}h{width:.1}"/>"#);
            let _ = writeln!(
                svg,
                r#"  <text class="quiet small" x="{:.1}" y="{:.1}" text-anchor="end">{value}</text>"#,
                left - 5.0,
                y + 3.5
            );
        }
        let step = [1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0].into_iter().find(|step| seconds / step <= 8.0);
        let step = step.unwrap_or(600.0);
        for tick in (0_u32..).map(|tick| f64::from(tick) * step).take_while(|tick| *tick <= seconds) {
            let x = window.x(tick);
            let _ = writeln!(
                svg,
                r#"  <text class="quiet small" x="{x:.1}" y="{:.1}" text-anchor="middle">{tick} s</text>"#,
                foot + 14.0
            );
        }
    }
}

fn round(value: f64) -> f64 {
    if value > 20.0 { value.round() } else { (value * 10.0).round() / 10.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(name: &str) -> Frame {
        let points = vec![(0.0, 0.0), (1.0, 220.0), (2.0, 190.0)];
        Frame { name: name.into(), promise: Some(200.0), points, marks: vec![(1.0, "a < b".into())] }
    }

    fn plot(columns: u32, count: usize) -> TimePlot {
        let frames = (0..count).map(|_| frame("a & b")).collect();
        TimePlot { title: "t".into(), subtitle: "s".into(), axis: "passed".into(), columns, frames }
    }

    #[test]
    fn there_is_a_curve_for_each_frame_and_the_picture_is_well_formed() {
        for (columns, count) in [(1, 1), (3, 7), (3, 0)] {
            let svg = plot(columns, count).svg();
            let document = roxmltree::Document::parse(&svg).unwrap();
            let is_curve = |node: &roxmltree::Node<'_, '_>| node.attribute("class") == Some("curve");
            // One more in the legend.
            assert_eq!(document.descendants().filter(is_curve).count(), count + 1);
        }
    }

    #[test]
    fn everything_lies_within_its_window() {
        let window = Window { left: 10.0, top: 20.0, width: 100.0, height: 50.0, seconds: 4.0, most: 200.0 };
        let is_at = |left: f64, right: f64| (left - right).abs() < 1e-9;
        assert!(is_at(window.x(4.0), 110.0) && is_at(window.x(9.0), 110.0) && is_at(window.x(0.0), 10.0));
        assert!(is_at(window.y(0.0), 70.0) && is_at(window.y(200.0), 20.0) && is_at(window.y(999.0), 20.0));
    }
}
