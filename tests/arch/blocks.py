"""Small networks of torch's own layers; each class says with example() what it eats."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def conv(i, o, k=3, s=1, **options):
    return nn.Sequential(nn.Conv2d(i, o, k, s, k // 2, bias=False, **options), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class ResidualBlock(nn.Module):
    def __init__(self, i, o, time):
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(4, i), nn.SiLU(), nn.Conv2d(i, o, 3, padding=1))
        self.time = nn.Linear(time, 2 * o)
        self.second = nn.Sequential(nn.GroupNorm(4, o), nn.SiLU(), nn.Dropout(0.1), nn.Conv2d(o, o, 3, padding=1))
        self.skip = nn.Conv2d(i, o, 1) if i != o else nn.Identity()

    def forward(self, x, t):
        scale, shift = self.time(t)[:, :, None, None].chunk(2, 1)
        return self.skip(x) + self.second(self.first(x) * (1 + scale) + shift)


class PixelAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.qkv, self.out = (
            nn.GroupNorm(4, width),
            nn.Conv2d(width, 3 * width, 1),
            nn.Conv2d(width, width, 1),
        )

    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(b, 3, 2, c // 2, h * w).transpose(3, 4).unbind(1)
        y = F.scaled_dot_product_attention(q, k, v)
        return x + self.out(y.transpose(2, 3).reshape(b, c, h, w))


class DiffusionUnet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 32))
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.down1, self.down2 = ResidualBlock(16, 16, 32), ResidualBlock(16, 32, 32)
        self.pool = nn.Conv2d(16, 16, 3, 2, 1)
        self.middle = PixelAttention(32)
        self.up1, self.up2 = ResidualBlock(32, 16, 32), ResidualBlock(32, 16, 32)
        self.last = nn.Sequential(nn.GroupNorm(4, 16), nn.SiLU(), nn.Conv2d(16, 3, 3, padding=1))

    def forward(self, x, t):
        frequencies = torch.exp(-math.log(10000) * torch.arange(8, device=x.device) / 8)
        angles = t[:, None].float() * frequencies[None]
        t = self.embed(torch.cat([angles.sin(), angles.cos()], -1))
        a = self.down1(self.first(x), t)
        b = self.middle(self.down2(self.pool(a), t))
        c = F.interpolate(self.up1(b, t), scale_factor=2.0, mode="nearest")
        return self.last(self.up2(torch.cat([c, a], 1), t))

    def example(self):
        return {"x": torch.randn(1, 3, 16, 16), "t": torch.tensor([7])}


class StateSpace(nn.Module):
    """A diagonal linear recurrence, unrolled by cumulative sums of logarithms."""

    def __init__(self):
        super().__init__()
        self.inner, self.step = nn.Linear(8, 32), nn.Linear(8, 16)
        self.local = nn.Conv1d(16, 16, 4, groups=16, padding=3)
        self.decay, self.out = nn.Parameter(torch.rand(16)), nn.Linear(16, 8)

    def forward(self, x):
        u, gate = self.inner(x).chunk(2, -1)
        u = F.silu(self.local(u.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2))
        delta = F.softplus(self.step(x))
        log_decay = -torch.cumsum(delta * self.decay, 1)
        state = torch.cumsum(delta * u * torch.exp(-log_decay), 1) * torch.exp(log_decay)
        return self.out(state * F.silu(gate))

    def example(self):
        return {"x": torch.randn(1, 12, 8)}


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.LSTM(8, 12, 2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(24, 5)

    def forward(self, x):
        y, (h, c) = self.layers(x)
        return self.out(y), h, c

    def example(self):
        return {"x": torch.randn(1, 7, 8)}


class GatedRecurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers, self.plain = nn.GRU(8, 12, 2, batch_first=True), nn.RNN(
            12, 6, batch_first=True, nonlinearity="relu"
        )

    def forward(self, x):
        y, h = self.layers(x)
        return F.log_softmax(self.plain(y)[0], -1), h

    def example(self):
        return {"x": torch.randn(1, 7, 8)}


class StackedTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Transformer(16, 4, 2, 2, 32, batch_first=True, activation="gelu", norm_first=True)

    def forward(self, x, y):
        return self.net(x, y, tgt_mask=torch.triu(torch.full((y.shape[1], y.shape[1]), float("-inf")), 1))

    def example(self):
        return {"x": torch.randn(1, 6, 16), "y": torch.randn(1, 4, 16)}


class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 8, 1)
        self.layers = nn.ModuleList(nn.Conv1d(8, 16, 2, dilation=2**i) for i in range(4))
        self.skips, self.last = nn.ModuleList(nn.Conv1d(8, 8, 1) for _ in range(4)), nn.Conv1d(8, 4, 1)

    def forward(self, x):
        x, total = self.first(x), 0
        for layer, skip in zip(self.layers, self.skips):
            y = layer(F.pad(x, (layer.dilation[0], 0)))
            y = torch.tanh(y[:, :8]) * torch.sigmoid(y[:, 8:])
            total, x = total + skip(y), x + y
        return self.last(F.relu(total))

    def example(self):
        return {"x": torch.randn(1, 1, 40)}


class SuperResolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 5, padding=2, padding_mode="reflect"),
            nn.PReLU(16),
            nn.Conv2d(16, 27, 3, padding=1),
            nn.PixelShuffle(3),
        )

    def forward(self, x):
        return self.body(x) + F.interpolate(x, scale_factor=3, mode="bicubic", align_corners=False)

    def example(self):
        return {"x": torch.rand(1, 3, 11, 13)}


class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.locate = nn.Sequential(
            nn.Conv2d(1, 4, 5), nn.MaxPool2d(2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(64, 6)
        )
        self.body = nn.Sequential(conv(1, 8, s=2), nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(8, 5))

    def forward(self, x):
        grid = F.affine_grid(self.locate(x).view(-1, 2, 3), list(x.shape), align_corners=False)
        return self.body(F.grid_sample(x, grid, align_corners=False, padding_mode="border"))

    def example(self):
        return {"x": torch.randn(1, 1, 20, 20)}


class SceneText(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            conv(1, 8), nn.MaxPool2d(2), conv(8, 16), nn.MaxPool2d((2, 1)), conv(16, 16, s=(2, 1))
        )
        self.rnn, self.out = nn.LSTM(64, 8, bidirectional=True), nn.Linear(16, 11)

    def forward(self, x):
        y = self.body(x).flatten(1, 2).permute(2, 0, 1)
        return F.log_softmax(self.out(self.rnn(y)[0]), 2)

    def example(self):
        return {"x": torch.randn(1, 1, 32, 40)}


class PictureUnet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = conv(3, 8), conv(8, 16), conv(16, 16)
        self.up, self.last = nn.ConvTranspose2d(16, 8, 2, 2), nn.Conv2d(16, 2, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.c(self.b(F.max_pool2d(a, 2, ceil_mode=True)))
        up = self.up(b)
        up = F.pad(up, [0, a.shape[3] - up.shape[3], 0, a.shape[2] - up.shape[2]])
        return self.last(torch.cat([a, up], 1)).softmax(1)

    def example(self):
        return {"x": torch.randn(1, 3, 14, 18)}


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.ConvTranspose2d(10, 16, 4, 1, 0, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.ConvTranspose2d(16, 8, 4, 2, 1, bias=False),
            nn.InstanceNorm2d(8, affine=True),
            nn.LeakyReLU(0.2),
            nn.ConvTranspose2d(8, 3, 3, 2, 1, output_padding=1),
            nn.Tanh(),
        )

    def forward(self, x):
        return self.body(x[:, :, None, None])

    def example(self):
        return {"x": torch.randn(1, 10)}


class GraphConvolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 16), nn.Linear(16, 3)

    def forward(self, x, edges):
        for layer in (self.first, self.second):
            messages = layer(x)[edges[0]]
            total = torch.zeros(x.shape[0], messages.shape[1]).index_add(0, edges[1], messages)
            degree = torch.zeros(x.shape[0]).scatter_add(0, edges[1], torch.ones_like(edges[1], dtype=torch.float32))
            x = F.elu(total / degree.clamp(min=1)[:, None])
        return x

    def example(self):
        return {"x": torch.randn(9, 6), "edges": torch.randint(0, 9, (2, 20))}


class RadianceField(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Sequential(nn.Linear(39, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU()), nn.Linear(32, 4)

    def forward(self, x):
        scaled = x[..., None, :] * (2.0 ** torch.arange(6))[:, None]
        y = self.b(self.a(torch.cat([x, scaled.sin().flatten(-2), scaled.cos().flatten(-2)], -1)))
        weights = 1 - torch.exp(-F.softplus(y[..., 3]))
        through = torch.cumprod(1 - weights + 1e-6, -1)
        return ((weights * through)[..., None] * y[..., :3].sigmoid()).sum(-2)

    def example(self):
        return {"x": torch.randn(1, 8, 3)}


class AnchorDetector(nn.Module):
    """One stage, decoded boxes, the best 20 of them."""

    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Sequential(conv(3, 8, s=2), conv(8, 16, s=2), nn.Hardswish()), nn.Conv2d(16, 3 * 7, 1)

    def forward(self, x):
        y = self.head(self.body(x))
        b, _, h, w = y.shape
        y = y.view(b, 3, 7, h, w).permute(0, 1, 3, 4, 2)
        rows, columns = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        centre = (y[..., :2].sigmoid() * 2 - 0.5 + torch.stack((columns, rows), -1)) * 4
        size = (y[..., 2:4].sigmoid() * 2) ** 2 * 8
        boxes = torch.cat((centre - size / 2, centre + size / 2), -1).reshape(b, -1, 4)
        score, kind = y[..., 4:].sigmoid().reshape(b, -1, 3).max(-1)
        best, index = score.topk(20, 1)
        return boxes.gather(1, index[..., None].expand(-1, -1, 4)), best, kind.gather(1, index)

    def example(self):
        return {"x": torch.rand(1, 3, 32, 32)}


class MaskedAutoregressive(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Conv2d(1, 8, 5, padding=2)
        mask = torch.ones(5, 5)
        mask[2, 2:], mask[3:] = 0, 0
        self.register_buffer("mask", mask)
        self.out = nn.Conv2d(8, 4, 1)

    def forward(self, x):
        return (
            self.out(F.relu(F.conv2d(x, self.w.weight * self.mask, self.w.bias, padding=2))).argmax(1),
            self.out.weight.norm() * x,
        )

    def example(self):
        return {"x": torch.randn(1, 1, 9, 9)}


class VectorQuantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Conv2d(3, 8, 4, 2, 1), nn.ConvTranspose2d(8, 3, 4, 2, 1)
        self.codes = nn.Embedding(16, 8)

    def forward(self, x):
        z = self.encode(x).permute(0, 2, 3, 1)
        index = torch.cdist(z.reshape(-1, 8), self.codes.weight).argmin(-1)
        return self.decode(self.codes(index).view(z.shape).permute(0, 3, 1, 2)), index

    def example(self):
        return {"x": torch.randn(1, 3, 12, 12)}


class SeparatingNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Conv1d(1, 16, 8, 4), nn.ConvTranspose1d(16, 1, 8, 4)
        self.norm, self.mask = nn.GroupNorm(1, 16), nn.Sequential(
            nn.Conv1d(16, 16, 3, padding=2, dilation=2, groups=16), nn.PReLU(), nn.Conv1d(16, 32, 1)
        )

    def forward(self, x):
        y = F.relu(self.encode(x))
        masks = torch.sigmoid(self.mask(self.norm(y))).unflatten(1, (2, 16))
        return torch.stack([self.decode(y * masks[:, i]) for i in range(2)], 1)

    def example(self):
        return {"x": torch.randn(1, 1, 64)}


class PointCloud(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Sequential(nn.Conv1d(6, 16, 1), nn.BatchNorm1d(16), nn.ReLU()), nn.Linear(16, 4)

    def forward(self, x):
        near = torch.cdist(x, x).topk(4, largest=False).indices
        rows = torch.arange(x.shape[0])[:, None, None]
        edge = (x[rows, near] - x[:, :, None]).mean(2)
        return self.b(self.a(torch.cat([x, edge], -1).transpose(1, 2)).max(2).values)

    def example(self):
        return {"x": torch.randn(1, 24, 3)}


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables, self.out = nn.ModuleList(nn.Embedding(10, 4) for _ in range(3)), nn.Linear(4 + 10, 1)
        self.dense, self.cross = nn.Sequential(nn.Linear(5, 4), nn.SELU()), nn.Bilinear(4, 4, 4)

    def forward(self, x, c):
        rows = torch.stack([self.dense(x)] + [t(c[:, i]) for i, t in enumerate(self.tables)], 1)
        pairs = torch.bmm(rows, rows.transpose(1, 2))
        i, j = torch.tril_indices(4, 4)
        return torch.sigmoid(self.out(torch.cat([self.cross(rows[:, 0], rows[:, 1]), pairs[:, i, j]], 1)))

    def example(self):
        return {"x": torch.randn(2, 5), "c": torch.randint(0, 10, (2, 3))}


class VolumeUnet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv3d(1, 4, 3, padding=1), nn.Conv3d(4, 8, 3, 2, 1)
        self.norm, self.up, self.out = nn.InstanceNorm3d(8), nn.ConvTranspose3d(8, 4, 2, 2), nn.Conv3d(8, 2, 1)

    def forward(self, x):
        a = F.leaky_relu(self.a(x))
        b = self.norm(self.b(F.avg_pool3d(a, 3, 1, 1)))
        c = F.interpolate(b, scale_factor=(2, 2, 2), mode="trilinear", align_corners=True)[:, :4]
        return self.out(torch.cat([a, self.up(b) + c], 1))

    def example(self):
        return {"x": torch.randn(1, 1, 8, 10, 12)}


class TimeMixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.norm = nn.Linear(24, 24), nn.Linear(24, 6), nn.LayerNorm((24, 3))

    def forward(self, x):
        mean, std = x.mean(1, keepdim=True), x.std(1, keepdim=True, unbiased=False) + 1e-5
        y = (x - mean) / std
        trend = F.avg_pool1d(F.pad(y.transpose(1, 2), (2, 2), mode="replicate"), 5, 1).transpose(1, 2)
        y = self.norm(y + self.a((y - trend).transpose(1, 2)).transpose(1, 2).roll(1, 1))
        return self.b(y.transpose(1, 2)).transpose(1, 2) * std + mean

    def example(self):
        return {"x": torch.randn(1, 24, 3)}


class StyleGenerator(nn.Module):
    """Weights modulated by the style: a grouped convolution whose weights are computed."""

    def __init__(self):
        super().__init__()
        self.start, self.style = nn.Parameter(torch.randn(1, 8, 4, 4)), nn.Linear(6, 8)
        self.weight, self.noise = nn.Parameter(torch.randn(1, 5, 8, 3, 3)), nn.Parameter(torch.randn(1, 1, 8, 8))

    def forward(self, x):
        weight = self.weight * (self.style(x)[:, None, :, None, None] + 1)
        weight = weight * torch.rsqrt(weight.square().sum((2, 3, 4), keepdim=True) + 1e-8)
        y = F.interpolate(self.start, scale_factor=2, mode="bilinear", align_corners=False).expand(
            x.shape[0], -1, -1, -1
        )
        y = F.conv2d(y.reshape(1, -1, 8, 8), weight.flatten(0, 1), padding=1, groups=x.shape[0])
        return F.leaky_relu(y.view(x.shape[0], 5, 8, 8) + self.noise, 0.2)

    def example(self):
        return {"x": torch.randn(2, 6)}


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(8, 4), nn.ModuleList(
            nn.Sequential(nn.Linear(8, 16), nn.Mish(), nn.Linear(16, 8)) for _ in range(4)
        )

    def forward(self, x):
        score, index = self.gate(x).softmax(-1).topk(2, -1)
        weights = torch.zeros(*x.shape[:2], 4).scatter(-1, index, score)
        return sum(weights[..., i, None] * expert(x) for i, expert in enumerate(self.experts))

    def example(self):
        return {"x": torch.randn(1, 6, 8)}


class LinearAttentionNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.norm, self.many = (
            nn.Linear(16, 48),
            nn.RMSNorm(16),
            nn.MultiheadAttention(16, 4, batch_first=True),
        )

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, 4, 4)).unbind(2)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        total = torch.einsum("blhd,blhe->bhde", k, v)
        y = torch.einsum("blhd,bhde,blh->blhe", q, total, 1 / torch.einsum("blhd,bhd->blh", q, k.sum(1)))
        x = x + y.flatten(2)
        return x + self.many(x, x, x, need_weights=False)[0]

    def example(self):
        return {"x": torch.randn(1, 7, 16)}


class Deblur(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last, self.attend = (
            nn.Conv2d(12, 16, 3, padding=1),
            nn.Conv2d(8, 12, 3, padding=1),
            nn.Conv2d(8, 8, 1),
        )

    def forward(self, x):
        a, b = self.first(F.pixel_unshuffle(x, 2)).chunk(2, 1)
        y = a * b
        y = y * self.attend(y.mean((2, 3), keepdim=True))
        return x + F.pixel_shuffle(self.last(F.layer_norm(y.permute(0, 2, 3, 1), (8,)).permute(0, 3, 1, 2)), 2)

    def example(self):
        return {"x": torch.rand(1, 3, 12, 16)}
