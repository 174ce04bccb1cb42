"""Networks that no package defines, written from their papers' tables: detection, pictures, text and sound."""
import torch
from torch import nn
from torch.nn import functional


def conv(inputs, outputs, kernel=3, stride=1, **options):
    """Convolution that keeps its size (but for the stride), batch normalisation, activation. Options: groups, dilation,
    act (None: without)."""
    groups, dilation, act = (options.get(k, d) for k, d in (("groups", 1), ("dilation", 1), ("act", nn.ReLU)))
    pad = dilation * (kernel - 1) // 2
    parts = [nn.Conv2d(inputs, outputs, kernel, stride, pad, dilation, groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*parts, *([act()] if act else []))


def separable(inputs, outputs, stride=1, kernel=3, act=nn.ReLU):
    return nn.Sequential(conv(inputs, inputs, kernel, stride, groups=inputs, act=act),
                         conv(inputs, outputs, 1, act=act))


class ReceptiveField(nn.Module):
    """Three dilated branches beside a shortcut (Liu et al. 2018, figure 4)."""

    def __init__(self, width):
        super().__init__()
        part = width // 8
        self.branches = nn.ModuleList(
            nn.Sequential(conv(width, part, 1, act=None), conv(part, 2 * part), *([conv(2 * part, 2 * part)] * extra),
                          conv(2 * part, 2 * part, dilation=dilation, act=None))
            for dilation, extra in ((2, 0), (3, 0), (5, 1)))
        self.join, self.shortcut = conv(6 * part, width, 1, act=None), conv(width, width, 1, act=None)

    def forward(self, x):
        return functional.relu(self.join(torch.cat([b(x) for b in self.branches], 1)) + self.shortcut(x))


class UltraFace(nn.Module):
    """A face detector of 0.2 GFLOP on 320 x 240: separable stages, a receptive-field block, four scales of heads."""

    def __init__(self):
        super().__init__()
        def stage(widths, first):
            return nn.Sequential(*(separable(i, o, 2 if k == 0 and first else 1)
                                   for k, (i, o) in enumerate(zip(widths, widths[1:]))))
        self.first = nn.Sequential(conv(3, 16, 3, 2), separable(16, 32), stage((32, 32, 32), True),
                                   stage((32, 64, 64, 64), True), ReceptiveField(64))
        self.second, self.third = stage((64, 128, 128, 128), True), stage((128, 256, 256), True)
        self.fourth = nn.Sequential(conv(256, 64, 1), separable(64, 256, 2))
        kinds = ((64, 3), (128, 2), (256, 2), (256, 3))
        def head(width, count):
            return nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, groups=width), nn.ReLU(), nn.Conv2d(width, count, 1))
        self.classes = nn.ModuleList(head(width, boxes * 2) for width, boxes in kinds)
        self.boxes = nn.ModuleList(head(width, boxes * 4) for width, boxes in kinds)

    def forward(self, image):
        values = [self.first(image)]
        for stage in (self.second, self.third, self.fourth):
            values.append(stage(values[-1]))
        def rows(heads, width):
            return torch.cat([h(v).permute(0, 2, 3, 1).reshape(1, -1, width) for h, v in zip(heads, values)], 1)
        return torch.softmax(rows(self.classes, 2), 2), rows(self.boxes, 4)


def leaky():
    return nn.LeakyReLU(0.1)


class CrossStage(nn.Module):
    """The block of YOLOv4-tiny: half of the channels pass through two convolutions and join again."""

    def __init__(self, width):
        super().__init__()
        half = width // 2
        self.enter, self.inner = conv(width, width, act=leaky), conv(half, half, act=leaky)
        self.last, self.out = conv(half, half, act=leaky), conv(width, width, 1, act=leaky)

    def forward(self, x):
        whole = self.enter(x)
        first = self.inner(whole.chunk(2, 1)[1])
        side = self.out(torch.cat([self.last(first), first], 1))
        return functional.max_pool2d(torch.cat([whole, side], 1), 2), side


class YoloTiny(nn.Module):
    """YOLOv4-tiny (Wang et al. 2021) on 416 x 416, with its two raw outputs."""

    def __init__(self, outputs=255):
        super().__init__()
        self.stem = nn.Sequential(conv(3, 32, 3, 2, act=leaky), conv(32, 64, 3, 2, act=leaky))
        self.blocks = nn.ModuleList(CrossStage(width) for width in (64, 128, 256))
        self.deep = nn.Sequential(conv(512, 512, act=leaky), conv(512, 256, 1, act=leaky))
        self.coarse = nn.Sequential(conv(256, 512, act=leaky), nn.Conv2d(512, outputs, 1))
        self.up = conv(256, 128, 1, act=leaky)
        self.fine = nn.Sequential(conv(384, 256, act=leaky), nn.Conv2d(256, outputs, 1))

    def forward(self, image):
        value, side = self.stem(image), None
        for block in self.blocks:
            value, side = block(value)
        deep = self.deep(value)
        up = functional.interpolate(self.up(deep), scale_factor=2.0, mode="nearest")
        return self.coarse(deep), self.fine(torch.cat([up, side], 1))


class Bottlenecks(nn.Module):
    """A cross-stage block with one depthwise bottleneck each, as YOLOX (Ge et al. 2021) has at this width."""

    def __init__(self, inputs, outputs, count=1, add=True):
        super().__init__()
        half = outputs // 2
        self.left, self.right = conv(inputs, half, 1, act=nn.SiLU), conv(inputs, half, 1, act=nn.SiLU)
        self.inner = nn.ModuleList(nn.Sequential(conv(half, half, 1, act=nn.SiLU), separable(half, half, act=nn.SiLU))
                                   for _ in range(count))
        self.out, self.add = conv(2 * half, outputs, 1, act=nn.SiLU), add

    def forward(self, x):
        left = self.left(x)
        for block in self.inner:
            left = left + block(left) if self.add else block(left)
        return self.out(torch.cat([left, self.right(x)], 1))


class PoolPyramid(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.enter, self.out = conv(width, width // 2, 1, act=nn.SiLU), conv(width * 2, width, 1, act=nn.SiLU)

    def forward(self, x):
        x = self.enter(x)
        return self.out(torch.cat([x] + [functional.max_pool2d(x, k, 1, k // 2) for k in (5, 9, 13)], 1))


class DecoupledHead(nn.Module):
    def __init__(self, inputs, width=64, classes=80):
        super().__init__()
        self.stem = conv(inputs, width, 1, act=nn.SiLU)
        def tower():
            return nn.Sequential(separable(width, width, act=nn.SiLU), separable(width, width, act=nn.SiLU))
        self.kinds, self.places = tower(), tower()
        self.kind, self.box, self.seen = nn.Conv2d(width, classes, 1), nn.Conv2d(width, 4, 1), nn.Conv2d(width, 1, 1)

    def forward(self, x):
        x = self.stem(x)
        places = self.places(x)
        parts = (self.box(places), self.seen(places).sigmoid(), self.kind(self.kinds(x)).sigmoid())
        return torch.cat(parts, 1).flatten(2)


class YoloxNano(nn.Module):
    """YOLOX-nano on 416 x 416: focus, four depthwise stages, a path-aggregation pyramid, three decoupled heads."""

    def __init__(self):
        super().__init__()
        act = nn.SiLU
        self.stem = conv(12, 16, act=act)
        self.dark2 = nn.Sequential(separable(16, 32, 2, act=act), Bottlenecks(32, 32))
        self.dark3 = nn.Sequential(separable(32, 64, 2, act=act), Bottlenecks(64, 64, 3))
        self.dark4 = nn.Sequential(separable(64, 128, 2, act=act), Bottlenecks(128, 128, 3))
        self.dark5 = nn.Sequential(separable(128, 256, 2, act=act), PoolPyramid(256), Bottlenecks(256, 256, 1, False))
        self.lateral, self.reduce = conv(256, 128, 1, act=act), conv(128, 64, 1, act=act)
        self.top4, self.top3 = Bottlenecks(256, 128, 1, False), Bottlenecks(128, 64, 1, False)
        self.down3, self.bottom3 = separable(64, 64, 2, act=act), Bottlenecks(128, 128, 1, False)
        self.down4, self.bottom4 = separable(128, 128, 2, act=act), Bottlenecks(256, 256, 1, False)
        self.heads = nn.ModuleList(DecoupledHead(width) for width in (64, 128, 256))

    def forward(self, image):
        corners = [image[..., y::2, x::2] for x in (0, 1) for y in (0, 1)]
        c3 = self.dark3(self.dark2(self.stem(torch.cat(corners, 1))))
        c4 = self.dark4(c3)
        lateral = self.lateral(self.dark5(c4))
        def up(value):
            return functional.interpolate(value, scale_factor=2.0, mode="nearest")
        reduced = self.reduce(self.top4(torch.cat([up(lateral), c4], 1)))
        p3 = self.top3(torch.cat([up(reduced), c3], 1))
        p4 = self.bottom3(torch.cat([self.down3(p3), reduced], 1))
        p5 = self.bottom4(torch.cat([self.down4(p4), lateral], 1))
        return torch.cat([head(p) for head, p in zip(self.heads, (p3, p4, p5))], 2).permute(0, 2, 1)


class UNet(nn.Module):
    """Ronneberger et al. 2015 with padded convolutions, 32 channels at the top, transposed convolutions upwards."""

    def __init__(self, width=32, depth=4):
        super().__init__()
        widths = [width << k for k in range(depth + 1)]
        def double(inputs, outputs):
            return nn.Sequential(conv(inputs, outputs), conv(outputs, outputs))
        self.down = nn.ModuleList(double(i, o) for i, o in zip([3] + widths, widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(i, o, 2, 2) for i, o in zip(widths[:0:-1], widths[-2::-1]))
        self.join = nn.ModuleList(double(i, o) for i, o in zip(widths[:0:-1], widths[-2::-1]))
        self.out = nn.Conv2d(width, 2, 1)

    def forward(self, image):
        kept, value = [], image
        for k, block in enumerate(self.down):
            value = block(value if k == 0 else functional.max_pool2d(value, 2))
            kept.append(value)
        for up, join, side in zip(self.up, self.join, kept[-2::-1]):
            value = join(torch.cat([side, up(value)], 1))
        return self.out(value)


class SuperResolution(nn.Module):
    """Sub-pixel convolution (Shi et al. 2016): three times the size of a luminance picture."""

    def __init__(self, factor=3):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 64, 5, 1, 2), nn.ReLU(), nn.Conv2d(64, 64, 3, 1, 1), nn.ReLU(),
                                  nn.Conv2d(64, 32, 3, 1, 1), nn.ReLU(), nn.Conv2d(32, factor * factor, 3, 1, 1),
                                  nn.PixelShuffle(factor))

    def forward(self, image):
        return self.body(image)


def styled(inputs, outputs, kernel, stride=1, relu=True):
    parts = [nn.ReflectionPad2d(kernel // 2), nn.Conv2d(inputs, outputs, kernel, stride),
             nn.InstanceNorm2d(outputs, affine=True)]
    return nn.Sequential(*parts, *([nn.ReLU()] if relu else []))


class StyleTransfer(nn.Module):
    """Johnson et al. 2016 with instance normalisation and nearest upsampling."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(styled(3, 32, 9), styled(32, 64, 3, 2), styled(64, 128, 3, 2))
        self.middle = nn.ModuleList(nn.Sequential(styled(128, 128, 3), styled(128, 128, 3, relu=False))
                                    for _ in range(5))
        self.up1, self.up2 = styled(128, 64, 3), styled(64, 32, 3)
        self.out = nn.Sequential(nn.ReflectionPad2d(4), nn.Conv2d(32, 3, 9))

    def forward(self, image):
        value = self.down(image)
        for block in self.middle:
            value = value + block(value)
        for block in (self.up1, self.up2):
            value = block(functional.interpolate(value, scale_factor=2.0, mode="nearest"))
        return self.out(value)


class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.mix, self.first = nn.Linear(width, width), nn.LayerNorm(width, 1e-12)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.second = nn.LayerNorm(width, 1e-12)

    def forward(self, x):
        batch, tokens, width = x.shape
        def split(value):
            return value.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = torch.matmul(query, key.transpose(-1, -2)) / (width // self.heads) ** 0.5
        mixed = torch.matmul(torch.softmax(scores, -1), value).transpose(1, 2).reshape(batch, tokens, width)
        x = self.first(x + self.mix(mixed))
        return self.second(x + self.narrow(functional.gelu(self.wide(x))))


class BertSmall(nn.Module):
    """BERT-small (Turc et al. 2019): 4 layers, 512 wide, 8 heads, 128 tokens."""

    def __init__(self, width=512, layers=4, heads=8, words=30522, tokens=128):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.randn(1, tokens, width))
        self.norm = nn.LayerNorm(width, 1e-12)
        self.layers = nn.ModuleList(BertLayer(width, heads) for _ in range(layers))

    def forward(self, tokens):
        value = self.norm(self.words(tokens) + self.places)
        for layer in self.layers:
            value = layer(value)
        return value


class Lstm(nn.Module):
    """Two layers of 256 cells over 100 frames of 40 features, as small acoustic models have."""

    def __init__(self):
        super().__init__()
        self.cells, self.out = nn.LSTM(40, 256, 2, batch_first=True), nn.Linear(256, 48)

    def forward(self, frames):
        return self.out(self.cells(frames)[0])


def conv1d(inputs, outputs, kernel, stride=1, **options):
    dilation, groups = options.get("dilation", 1), options.get("groups", 1)
    return nn.Conv1d(inputs, outputs, kernel, stride, dilation * (kernel - 1) // 2, dilation, groups, bias=False)


def separable1d(inputs, outputs, kernel, relu=True):
    parts = [conv1d(inputs, inputs, kernel, groups=inputs), conv1d(inputs, outputs, 1), nn.BatchNorm1d(outputs)]
    return nn.Sequential(*parts, *([nn.ReLU()] if relu else []))


class SpeechConv1d(nn.Module):
    """The 5x1 form of QuartzNet (Kriman et al. 2020): separable 1-D convolutions over 400 frames of 64 bands."""

    def __init__(self):
        super().__init__()
        self.enter = nn.Sequential(conv1d(64, 256, 33, 2), nn.BatchNorm1d(256), nn.ReLU())
        widths = [(256, 256, 33), (256, 256, 39), (256, 512, 51), (512, 512, 63), (512, 512, 75)]
        self.blocks = nn.ModuleList(separable1d(i, o, k, False) for i, o, k in widths)
        self.sides = nn.ModuleList(nn.Sequential(conv1d(i, o, 1), nn.BatchNorm1d(o)) for i, o, _ in widths)
        self.out = nn.Sequential(conv1d(512, 512, 87, dilation=2), nn.BatchNorm1d(512), nn.ReLU(),
                                 nn.Conv1d(512, 1024, 1), nn.ReLU(), nn.Conv1d(1024, 29, 1))

    def forward(self, bands):
        value = self.enter(bands)
        for block, side in zip(self.blocks, self.sides):
            value = functional.relu(block(value) + side(value))
        return self.out(value)


MAKERS = {
    "ultraface": (UltraFace, {"image": (1, 3, 240, 320)}),
    "yolo_tiny": (YoloTiny, {"image": (1, 3, 416, 416)}),
    "yolox_nano": (YoloxNano, {"image": (1, 3, 416, 416)}),
    "unet": (UNet, {"image": (1, 3, 256, 256)}),
    "super_resolution": (SuperResolution, {"image": (1, 1, 224, 224)}),
    "style_transfer": (StyleTransfer, {"image": (1, 3, 224, 224)}),
    "bert_small": (BertSmall, {"tokens": (1, 128)}),
    "lstm": (Lstm, {"frames": (1, 100, 40)}),
    "speech_conv1d": (SpeechConv1d, {"bands": (1, 64, 400)}),
}
